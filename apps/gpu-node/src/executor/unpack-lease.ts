import type { Lease, Source } from '@halogrid/proto';
import { SourceBlock } from '@halogrid/sources/source-block';

/** The lease with its sources as messages, where they came as a block. Throws BlockError for bytes that are none. */
export function unpackLease(lease: Lease): Lease {
  const { work, verify = false } = lease;
  if (work?.$case !== 'frames' || !work.value.block) return lease;
  const { block, anyVersion = false, ...batch } = work.value;
  const sources = Array.from(new SourceBlock(block), ({ index, uri, version, preview, place }): Source => {
    return {
      ...{ index, uri, place, version: anyVersion ? undefined : version },
      // What a check computes leaves nothing.
      ...(preview && !verify && { preview }),
    };
  });
  return { ...lease, work: { $case: 'frames', value: { ...batch, sources } } };
}

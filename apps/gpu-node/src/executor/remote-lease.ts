import { basename } from 'node:path';
import type { Lease } from '@halogrid/proto';
import { packSources } from '@halogrid/sources/pack-sources';
import { type BlockSource, SourceBlock } from '@halogrid/sources/source-block';

/**
 * The lease with what it names on the coordinator's disk replaced by where the coordinator hands it over, below the URL
 * `handOver`. Throws BlockError where its sources are not a block.
 */
export function toRemoteLease(lease: Lease): Lease {
  const base = lease.handOver;
  const sources = [...new SourceBlock(lease.sources)];
  const moved = sources.map((source): BlockSource => {
    const { index, uri, pin: _, ...rest } = source;
    if (!isOfDisk(uri)) return source;
    // Its name tells how it is best read. The coordinator looks after its version.
    return { ...rest, index, uri: `${base}/sources/${index}/${basename(new URL(uri).pathname)}` };
  });
  const isMoved = sources.length > 0 && isOfDisk(sources[0]!.uri);
  return {
    ...lease,
    scratch: `${base}/chunks`,
    sources: packSources(moved),
    work: isMoved ? withoutVersion(lease.work) : lease.work,
  };
}

const isOfDisk = (uri: string): boolean => uri.startsWith('file:') && URL.canParse(uri);

/** The coordinator looks after the version of a video that it hands over, as well. */
function withoutVersion(work: Lease['work']): Lease['work'] {
  if (work?.$case !== 'frames' || !work.value.segment) return work;
  return { ...work, value: { segment: { ...work.value.segment, version: '' } } };
}

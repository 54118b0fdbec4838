import { basename } from 'node:path';
import type { Lease, Source } from '@halogrid/proto';

/**
 * The lease with what it names on the coordinator's disk replaced by where the coordinator hands it over. `origin` is that of its
 * HTTP, such as http://host:9464.
 */
export function toRemoteLease(lease: Lease, origin: string): Lease {
  const base = origin + lease.handOver;
  const move = (source: Source): Source => {
    if (!source.uri.startsWith('file:') || !URL.canParse(source.uri)) return source;
    // Its name tells how it is best read. The coordinator looks after its version.
    return {
      ...source,
      version: undefined,
      uri: `${base}/sources/${source.index}/${basename(new URL(source.uri).pathname)}`,
    };
  };
  return { ...lease, scratch: `${base}/chunks`, work: moveWork(lease.work, move) };
}

function moveWork(work: Lease['work'], move: (source: Source) => Source): Lease['work'] {
  if (work?.$case === 'frames') {
    const { sources, segment } = work.value;
    // The coordinator looks after the version of a video that it hands over, as well.
    const isMoved = sources[0]?.uri.startsWith('file:');
    return {
      ...work,
      value: { sources: sources.map(move), segment: segment && isMoved ? { ...segment, version: '' } : segment },
    };
  }
  if (!work?.value.source) return work;
  return { ...work, value: { ...work.value, source: move(work.value.source) } };
}

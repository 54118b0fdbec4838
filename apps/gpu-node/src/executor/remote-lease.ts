import { basename } from 'node:path';
import type { Lease } from '@halogrid/proto';
import { packSources } from '@halogrid/sources/pack-sources';
import { splitRow } from '@halogrid/sources/row-uri';
import { type BlockSource, SourceBlock } from '@halogrid/sources/source-block';

/**
 * The lease, with paths on the coordinator's disk replaced by URLs below `handOver`, where the coordinator serves them.
 * If the node sees the sources (`hasRemoteStorage` is false), only the place for results is replaced. Throws BlockError
 * if its sources are not a block.
 */
export function toRemoteLease(lease: Lease, hasRemoteStorage: boolean): Lease {
  const base = lease.handOver;
  const scratch = `${base}/chunks`;
  if (!hasRemoteStorage) return { ...lease, scratch };
  const sources = [...new SourceBlock(lease.sources)];
  const firstOf = new Map<string, number>();
  for (const { uri, index } of sources) {
    const { file, row } = splitRow(uri);
    if (row && !firstOf.has(file)) firstOf.set(file, index);
  }
  const moved = sources.map((source): BlockSource => {
    const { index, pin: _, ...rest } = source;
    // The file's name shows how it is best read. The coordinator checks the version.
    // So does the fragment, which says which part of the file is the source. Rows of a file stay rows of one file, so
    // that its pages are unpacked once.
    const moved = (kind: 'sources' | 'masks', uri: string): string => {
      const { pathname, hash } = new URL(uri);
      const of = kind === 'sources' ? (firstOf.get(splitRow(uri).file) ?? index) : index;
      return `${base}/${kind}/${of}/${basename(pathname)}${hash}`;
    };
    const mask = source.mask && { mask: { uri: moved('masks', source.mask.uri) } };
    if (!isOfDisk(source.uri)) return { ...source, ...mask };
    return { ...rest, ...mask, index, uri: moved('sources', source.uri) };
  });
  const isMoved = sources.length > 0 && isOfDisk(sources[0]!.uri);
  return {
    ...lease,
    scratch,
    sources: packSources(moved),
    work: isMoved ? withoutVersion(lease.work) : lease.work,
  };
}

const isOfDisk = (uri: string): boolean => uri.startsWith('file:') && URL.canParse(uri);

/** The coordinator also checks the version of a video that it serves. */
function withoutVersion(work: Lease['work']): Lease['work'] {
  if (work?.$case !== 'frames' || !work.value.segment) return work;
  return { ...work, value: { segment: { ...work.value.segment, version: '' } } };
}

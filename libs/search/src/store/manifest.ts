import { createHash } from 'node:crypto';
import type { CountBytes } from '../scan/block-scanner.ts';
import { isSoundManifest } from './check-manifest.ts';
import { IndexError } from './index-error.ts';
import type { PipelineIdentity } from './pipeline-identity.ts';

/** What an index is made of; docs/retrieval.md describes the files for those who read them with other programs. */
export interface Manifest {
  readonly pipeline: PipelineIdentity;
  readonly segments: readonly Segment[];
  /** Number of the next segment. It only rises, so that no reader takes the files of one for those of another. */
  readonly nextSegment: number;
}

/** Two files, NAME.rows and NAME.bins, that are written once and never changed. */
export interface Segment {
  readonly name: string;
  /** Jobs that its frames come from, in their order. */
  readonly jobs: readonly IndexedJob[];
  readonly frames: number;
  readonly rows: { readonly texts: number; readonly bytes: number; readonly crc32: number };
  /** What NAME.bins holds, one after another. */
  readonly blocks: readonly StoredBlock[];
}

export interface IndexedJob {
  readonly id: string;
  readonly digest: string;
  /** URI of its output folder. */
  readonly out: string;
  /** SHA-256 of what its specification says of its sources. */
  readonly sources: string;
  /** How many frames this segment has of the job. */
  readonly frames: number;
}

/** Histograms of some frames, cell by cell, each padded with zeros to a multiple of 16 counts. */
export interface StoredBlock {
  readonly frames: number;
  readonly width: CountBytes;
  readonly crc32: number;
}

const format = 'halogrid-index';
/** Rises with what the files mean. */
const version = 1;

/** The text of manifest.json. */
export function manifestText(manifest: Manifest): string {
  const content = { format, version, ...manifest };
  return `${JSON.stringify({ ...content, sha256: hashOf(content) }, null, 1)}\n`;
}

/** Reads a manifest.json. Throws IndexError with one sentence that names `path`. */
export function parseManifest(text: string, path: string): Manifest {
  let written: Manifest & { format?: unknown; version?: unknown; sha256?: unknown };
  try {
    written = JSON.parse(text);
  } catch (cause) {
    throw new IndexError(`'${path}' is damaged: it is not JSON`, { cause });
  }
  if (written?.format !== format) throw new IndexError(`'${path}' is not the manifest of an index`);
  if (written.version !== version) {
    throw new IndexError(`'${path}' is of format ${written.version}, and this halogrid knows format ${version} alone`);
  }
  const { sha256, ...content } = written;
  if (sha256 !== hashOf(content))
    throw new IndexError(`'${path}' has changed since it was written: make the index again`);
  if (!isSoundManifest(content))
    throw new IndexError(`'${path}' has values that no index can have: make the index again`);
  if (!content.segments.every(({ name }) => namePattern.test(name)))
    throw new IndexError(`'${path}' names files of its own`);
  return { pipeline: content.pipeline, segments: content.segments, nextSegment: content.nextSegment };
}

const hashOf = (content: object): string => createHash('sha256').update(JSON.stringify(content)).digest('hex');

/** What segmentName gives: no path leads out of the folder. */
const namePattern = /^segment-\d{6,15}$/;

/** The name of the segment of that number. */
export const segmentName = (number: number): string => `segment-${String(number).padStart(6, '0')}`;

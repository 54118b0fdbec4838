import type { CountBytes } from '../scan/count-arrays.ts';
import type { PipelineIdentity } from './pipeline-identity.ts';

/** What an index is made of; docs/retrieval.md describes the files for other programs. */
export interface Manifest {
  readonly pipeline: PipelineIdentity;
  readonly segments: readonly Segment[];
  /** Number of the next segment. It only rises, so that no reader takes one segment's files for another's. */
  readonly nextSegment: number;
}

/** Two files, NAME.rows and NAME.bins, that are written once and never changed. */
export interface Segment {
  readonly name: string;
  /** Jobs that its frames come from, in their order. */
  readonly jobs: readonly IndexedJob[];
  readonly frames: number;
  readonly rows: { readonly texts: number; readonly bytes: number; readonly crc32: number };
  /** The blocks of NAME.bins, one after another. */
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

/** The name of the segment of that number. */
export const segmentName = (number: number): string => `segment-${String(number).padStart(6, '0')}`;

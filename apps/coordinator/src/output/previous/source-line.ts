import type { SourceDigest } from '@halogrid/results/source-digest';
import { resultsVersion, softwareVersion } from '@halogrid/service/version';
import type { FrameOfVideo } from '../../job/shard.ts';

/** A source as sources.jsonl has it; what may be secret in its URI is left out. */
export type SourceLine = { uri: string; version?: string } & Partial<FrameOfVideo> &
  (
    | { quarantined: true }
    | {
        quarantined?: undefined;
        /** That of its map and preview, without extension. */
        name: string;
        width: number;
        height: number;
        counted: number;
        /** SHA-256 in hex: see sourceDigest. */
        digest: string;
        /** What its file states of when it was captured: see captureText. */
        captured?: string;
      }
  );

const head = { file: 'sources', format: 1 };

/** The first line. */
export const headLine = JSON.stringify({ halogrid: softwareVersion, ...head, resultsVersion });

/** The version of the results that a file with that first line is of; undefined where it is no such file, or of another format. */
export function resultsVersionOf(firstLine: string): number | undefined {
  try {
    const { file, format, resultsVersion: version = 1 } = JSON.parse(firstLine);
    return file === head.file && format === head.format && Number.isInteger(version) ? version : undefined;
  } catch {
    return undefined;
  }
}

export const hex = (digest: SourceDigest): string => Buffer.from(digest).toString('hex');

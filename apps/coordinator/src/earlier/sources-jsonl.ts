import { resultsVersion, softwareVersion } from '@halogrid/service';
import { redactUri } from '@halogrid/sources/redact-uri';
import type { SourceDigest } from '../ledger/digest.ts';
import type { JobResults } from '../ledger/ledger.ts';
import { type NamedSource, namedSources } from '../output/named-sources.ts';
import type { FrameOfVideo, PlanStep } from '../shard.ts';

/** A source as sources.jsonl has it; what may be secret in its URI is left out. */
export type SourceLine = { uri: string; version?: string } & Partial<FrameOfVideo> &
  (
    | { quarantined: true }
    | {
        quarantined?: undefined;
        /** Of its map and preview, without extension. */
        name: string;
        width: number;
        height: number;
        counted: number;
        /** SHA-256 in hex: see sourceDigest. */
        digest: string;
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

/**
 * The text of sources.jsonl: a line that says what it is, and one for each source in order, with the version of its file when
 * it was listed, before anyone read it. So what was written to the file since makes another version.
 */
export async function* sourcesJsonl(results: JobResults): AsyncGenerator<string> {
  yield `${headLine}\n`;
  const named = namedSources(results);
  for await (const step of results.plan()) {
    if (step.kind === 'source') yield `${JSON.stringify(lineOf(step, named.next().value!))}\n`;
  }
}

function lineOf(
  { uri, video, version }: Extract<PlanStep, { kind: 'source' }>,
  { source, name }: NamedSource,
): SourceLine {
  const what = { uri: redactUri(uri), ...video, version };
  if (source.state === 'quarantined') return { ...what, quarantined: true };
  const { size, counted, digest } = source;
  return { ...what, name, width: size.width, height: size.height, counted, digest: hex(digest) };
}

export const hex = (digest: SourceDigest): string => Buffer.from(digest).toString('hex');

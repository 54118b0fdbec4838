import { redactUri } from '@halogrid/imaging/redact-uri';
import { softwareVersion } from '@halogrid/service';
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

/** The first line: results of another version of the software are not kept. */
export const headLine = JSON.stringify({ halogrid: softwareVersion, file: 'sources', format: 1 });

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

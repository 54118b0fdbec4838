import { redactUri } from '@halogrid/imaging/redact-uri';
import { softwareVersion } from '@halogrid/service';
import type { SourceDigest } from '../ledger/digest.ts';
import type { SourceOutcome } from '../ledger/ledger.ts';
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
        digest: SourceDigest;
      }
  );

/** The first line: results of another version of the software are not kept. */
export const headLine = JSON.stringify({ halogrid: softwareVersion, file: 'sources', format: 1 });

/**
 * The text of sources.jsonl: a line that says what it is, and one for each source in order, with the version of its file when
 * it was listed, before anyone read it. So what was written to the file since makes another version.
 */
export async function* sourcesJsonl(
  plan: AsyncIterable<PlanStep>,
  sources: readonly SourceOutcome[],
  names: readonly string[],
): AsyncGenerator<string> {
  yield `${headLine}\n`;
  for await (const step of plan) {
    if (step.kind === 'source') yield `${JSON.stringify(lineOf(step, sources[step.index]!, names[step.index]!))}\n`;
  }
}

function lineOf(
  { uri, video, version }: Extract<PlanStep, { kind: 'source' }>,
  source: SourceOutcome,
  name: string,
): SourceLine {
  const what = { uri: redactUri(uri), ...video, version };
  if (source.state === 'quarantined') return { ...what, quarantined: true };
  const { size, counted, digest } = source;
  return { ...what, name, width: size.width, height: size.height, counted, digest };
}

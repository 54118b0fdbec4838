import { redactUri } from '@halogrid/sources';
import { captureText } from '@halogrid/sources/captured';
import type { PlanStep } from '../job/shard.ts';
import type { JobResults, SourceOutcome } from '../ledger/ledger.ts';
import { type NamedSource, namedSources } from './output-names.ts';
import { headLine, hex, type SourceLine } from './previous/source-line.ts';

/**
 * The text of sources.jsonl: a line that says what it is, and one for each source in order, with the version of its file when
 * it was listed, before anyone read it. So what was written to the file since makes another version.
 */
export async function* sourcesJsonl(results: JobResults): AsyncGenerator<string> {
  yield `${headLine}\n`;
  const named = namedSources(results);
  let lines = '';
  for await (const step of results.plan()) {
    if (step.kind !== 'source') continue;
    lines += `${JSON.stringify(lineOf(step, named.next().value!))}\n`;
    if (lines.length < pieceChars) continue;
    yield lines;
    lines = '';
  }
  yield lines;
}

/** Characters that are told at once: each time takes a turn of the microtasks, as much as a line takes to be made. */
const pieceChars = 2 ** 14;

function lineOf(
  { uri, video, version }: Extract<PlanStep, { kind: 'source' }>,
  { source, name }: NamedSource,
): SourceLine {
  const what = { uri: redactUri(uri), ...video, version };
  if (source.state === 'quarantined') return { ...what, quarantined: true };
  const { size, counted, digest, captured } = source;
  const line = { ...what, name, width: size.width, height: size.height, counted, digest: hex(digest) };
  return captured ? { ...line, captured: captureText(captured) } : line;
}

/**
 * A line of JSON a quarantined source, in order: `uri`; `frame`, the number of the frame inside it, 0 for an image;
 * `stage` ("read", "decode" or "compute"); `error`, one sentence; `attempts`, how often it was leased, 0 where the planner
 * could not read it.
 */
export function* errorsJsonl(sources: Iterable<SourceOutcome>): Generator<string> {
  for (const source of sources) {
    if (source.state !== 'quarantined') continue;
    const { uri, video, stage, error, attempts } = source;
    yield `${JSON.stringify({ uri: redactUri(uri), frame: video?.frame ?? 0, stage, error, attempts })}\n`;
  }
}

import { redactUri } from '@halogrid/sources';
import type { SourceOutcome } from '../ledger/ledger.ts';

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

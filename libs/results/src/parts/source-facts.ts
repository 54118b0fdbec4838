import { captureText } from '@halogrid/sources/capture-time';
import type { CaptureRule } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import type { SourceBlock } from '@halogrid/sources/source-block';
import type { FeatureSource } from '../features/page-maker.ts';
import type { SourceLine } from '../sources/source-line.ts';
import type { FoundSource } from './found-shard.ts';

/** The line of a source in the list of sources; `found` is absent where it could not be processed. */
export function listLine(block: SourceBlock, nth: number, found?: FoundSource): SourceLine {
  const video = block.video(nth);
  const version = block.version(nth);
  const what = { uri: redactUri(block.uri(nth)), ...(version !== undefined && { version }), ...video };
  if (!found) return { ...what, quarantined: true };
  const { size, counted, digest, captured } = found;
  const line = { ...what, name: block.name(nth), ...size, counted, digest: Buffer.from(digest).toString('hex') };
  return captured ? { ...line, captured: captureText(captured) } : line;
}

/** What is known of a source that was found but its histograms. */
export function featureSource(
  block: SourceBlock,
  nth: number,
  captured: FoundSource['captured'],
  rule: CaptureRule,
): FeatureSource {
  const uri = block.uri(nth);
  const video = block.video(nth);
  const { atMs: capturedAtMs, camera } = rule.of({ uri, ...(video && { video }), ...(captured && { captured }) });
  const { frame = 0, timestampMs = null } = video ?? {};
  const name = block.name(nth);
  return { number: block.index(nth), source: redactUri(uri), name, frame, timestampMs, capturedAtMs, camera };
}

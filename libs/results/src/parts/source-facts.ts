import { captureText } from '@halogrid/sources/capture-time';
import { type CaptureRule, timeOfFile } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import type { BlockSource, SourceBlock } from '@halogrid/sources/source-block';
import type { FeatureSource } from '../features/page-maker.ts';
import type { SourceLine } from '../sources/source-line.ts';
import type { FoundFacts, FoundSource } from './found-shard.ts';

/** Facts about a source that outputs contain and that are known before it is processed. */
export interface SourceFacts extends Pick<BlockSource, 'index' | 'uri' | 'name' | 'version' | 'video'> {
  /** The URI without secrets, for outputs. */
  redacted: string;
}

export function sourceFacts(block: SourceBlock, nth: number): SourceFacts {
  const uri = block.uri(nth);
  const [index, redacted, name] = [block.index(nth), redactUri(uri), block.name(nth)];
  return { index, uri, redacted, name, version: block.version(nth), video: block.video(nth) };
}

/**
 * The same source with its capture time: for a job with `--captured-from mtime`, the time when its file was last
 * changed.
 */
export function withTime(rule: CaptureRule, { version }: SourceFacts, found: FoundSource): FoundSource {
  if (!rule.isMtime) return found;
  const captured = timeOfFile(
    true,
    () => version,
    () => undefined,
  );
  return { ...found, captured };
}

/**
 * The line of a source in the list of sources, with the fields in their order there. `found` is absent if the source
 * could not be processed.
 */
export function listLine({ redacted: uri, name, version, video }: SourceFacts, found?: FoundFacts): SourceLine {
  const [frame, timestampMs] = [video?.frame, video?.timestampMs];
  if (!found) return { uri, frame, timestampMs, version, quarantined: true };
  const { size, counted, captured: time } = found;
  const digest = found.digest.toString('hex');
  const captured = time && captureText(time);
  const { width, height } = size;
  return { uri, frame, timestampMs, version, name, width, height, counted, digest, captured };
}

/** The values that all rows of a source in features.parquet share. */
export function featureSource(
  { index: number, uri, redacted: source, name, video }: SourceFacts,
  captured: FoundSource['captured'],
  rule: CaptureRule,
): FeatureSource {
  const { atMs: capturedAtMs, camera } = rule.of({ uri, video, captured });
  const { frame = 0, timestampMs = null } = video ?? {};
  return { number, source, name, frame, timestampMs, capturedAtMs, camera };
}

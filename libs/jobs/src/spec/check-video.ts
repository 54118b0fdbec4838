import { findFfmpeg } from '@halogrid/imaging/ffmpeg';
import type { JobSpec, VideoOptions } from '@halogrid/proto';
import { hwaccels, maxEvery } from '@halogrid/proto/job-limits';
import { named, type Sentence, sentence } from '@halogrid/proto/sentence';
import { hasVideoExtension } from '@halogrid/sources';
import { Refusal, refuseValue } from '../refusal.ts';

/**
 * Checks the video options of a specification, and that FFmpeg is installed if the name of a source is that of a video.
 * Returns the field that is for videos alone, if any, for checkSources. Throws Refusal.
 */
export function checkVideo({ sources, video }: JobSpec): string | undefined {
  if (video) checkOptions(video);
  if (sources.some((uri) => hasVideoExtension(uri))) checkReadable();
  return video && videoField(video);
}

/** The sentence for a job that has images alone, although its field `what` chooses frames of videos. */
export const noVideoSentence = (what: string | Sentence): Sentence =>
  sentence`Expected a video among the sources, because ${what} is for videos, but received images alone`;

function checkReadable(): void {
  try {
    findFfmpeg();
  } catch (error) {
    throw new Refusal('unmet', (error as Error).message);
  }
}

function checkOptions({ every, fromMs, toMs, fpsNum, fpsDen, hwaccel }: VideoOptions): void {
  if (every > maxEvery) refuseValue('video.every', every, `0 to ${maxEvery}`);
  if (toMs !== undefined && toMs <= (fromMs ?? 0)) refuseValue('video.to_ms', toMs, `more than ${fromMs ?? 0}`);
  if (fpsNum > 0 !== fpsDen > 0) {
    const both = sentence`${named('video.fps_num')} and ${named('video.fps_den')}`;
    throw new Refusal('invalid', sentence`Expected ${both}, or neither, but received '${fpsNum}/${fpsDen}'`);
  }
  if (every > 1 && fpsNum > 0) {
    const either = sentence`Expected ${named('video.every')} or ${named('video.fps_num')} but received both`;
    throw new Refusal('invalid', either);
  }
  if (hwaccel && !hwaccels.includes(hwaccel)) refuseValue('video.hwaccel', hwaccel, hwaccels);
}

/** The first field that chooses frames of videos; undefined if there is none. */
export function videoField({ every, fromMs, toMs, fpsNum }: VideoOptions): string | undefined {
  if (every > 1) return 'video.every';
  if (fromMs !== undefined) return 'video.from_ms';
  if (toMs !== undefined) return 'video.to_ms';
  return fpsNum > 0 ? 'video.fps_num' : undefined;
}

import { findFfmpeg } from '@halogrid/imaging/ffmpeg';
import type { JobSpec, VideoOptions } from '@halogrid/proto';
import { hwaccels, maxEvery } from '@halogrid/proto/job-limits';
import { hasVideoExtension } from '@halogrid/sources';
import { Refusal, refuseValue } from './refusal.ts';

/**
 * Checks what a specification says of videos, as far as names of sources tell; gives the option, if any, that is for videos
 * alone, for checkSources. Throws Refusal.
 */
export function checkVideo({ sources, video }: JobSpec): string | undefined {
  if (video) checkOptions(video);
  if (sources.some((uri) => hasVideoExtension(uri))) checkReadable();
  return video && optionOf(video);
}

/** What is said of a job that has images alone and chooses frames of videos by `option`. */
export const noVideoSentence = (option: string): string =>
  `Expected a video among the sources, because ${option} is for videos, but received images alone`;

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
    refuseValue('video.fps_num and fps_den', `${fpsNum}/${fpsDen}`, 'both or neither', 'video.fps_num');
  }
  if (every > 1 && fpsNum > 0) {
    refuseValue('video.every and fps_num', `${every} and ${fpsNum}`, 'one of them', 'video.every');
  }
  if (hwaccel && !hwaccels.includes(hwaccel)) refuseValue('video.hwaccel', hwaccel, `one of ${hwaccels.join(', ')}`);
}

/** The option that chooses frames of videos; undefined where none does. */
export function optionOf({ every, fromMs, toMs, fpsNum }: VideoOptions): string | undefined {
  if (every > 1) return '--every';
  if (fromMs !== undefined) return '--from';
  if (toMs !== undefined) return '--to';
  return fpsNum > 0 ? '--fps' : undefined;
}

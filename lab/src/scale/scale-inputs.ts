import { join } from 'node:path';
import type { FrameJob } from '@halogrid/bench/frame-cluster';
import { frameSize } from '@halogrid/bench/frames';
import { measureDecodeRate, measureReadRate } from '@halogrid/bench/input-rates';
import { type FrameFormat, makeFrames } from '@halogrid/bench/make-frames';
import { openScene } from '@halogrid/bench/scene';
import { decodeByFfmpeg } from '@halogrid/imaging/plain-ffmpeg';
import { poolThreads } from '@halogrid/threads/pool-threads';
import { makeRecordings } from '../video/make-recordings.ts';
import type { ScaleLimits } from './scale-table.ts';

export const scaleFormats = ['jpg', 'pgm', 'mp4'] as const;

export interface ScaleInputOptions {
  /** Number of frames. mp4 has some more, because it is copies of one recording. */
  frames: number;
  format: (typeof scaleFormats)[number];
  /** JPEG quality, 1 to 100. */
  quality: number;
  /** `--decode` of the nodes. */
  decode: string;
  /** `--hwaccel` of the jobs, for recordings; cores decode unless given. */
  hwaccel?: string;
  /** A photograph whose parts are the frames; a synthetic scene unless given. */
  scene?: string;
}

/** The frames that all runs process. */
export interface ScaleInputs {
  source: string;
  frames: number;
  job: FrameJob;
  limits: ScaleLimits;
}

/** Frames of the recording that mp4 copies. */
const clipFrames = 342;
/** Frames decoded to measure cores alone. */
const measuredFrames = 4000;

/**
 * Writes the inputs into `folder` and measures how fast the machine reads and decodes them without a GPU. Rejects if an
 * input cannot be made.
 */
export async function makeScaleInputs(
  folder: string,
  options: ScaleInputOptions,
  note: (line: string) => void,
): Promise<ScaleInputs> {
  const source = join(folder, 'frames');
  const made = options.format === 'mp4' ? recordings(source, options, note) : images(source, options);
  const inputs = await made;
  const { readsPerSecond, decodesPerSecond } = inputs.limits;
  const alone = [
    ...(readsPerSecond === undefined ? [] : [`reading alone ${readsPerSecond.toFixed(0)}`]),
    ...(decodesPerSecond === undefined ? [] : [`decoding alone ${decodesPerSecond.toFixed(0)}`]),
  ];
  note(`${inputs.frames} frames, ${options.format}; frames/s: ${alone.join(', ') || 'not measured'}`);
  return inputs;
}

async function images(source: string, { frames, quality, decode, scene, ...options }: ScaleInputOptions) {
  const format: FrameFormat = { kind: options.format === 'pgm' ? 'pgm' : 'jpg', quality };
  const files = await makeFrames(source, frames, frameSize, format, await openScene(frameSize, scene));
  // The first read may come from the disk; runs find the files in memory if they fit.
  await measureReadRate(source);
  const limits: ScaleLimits = { readsPerSecond: await measureReadRate(source) };
  if (format.kind === 'jpg' && decode !== 'gpu')
    limits.decodesPerSecond = await measureDecodeRate(files, frameSize, Math.min(frames, measuredFrames));
  return { source, frames, job: {}, limits };
}

async function recordings(source: string, { frames, hwaccel }: ScaleInputOptions, note: (line: string) => void) {
  const copies = Math.ceil(frames / clipFrames);
  const clip = { codec: 'h264', ...frameSize, frames: clipFrames, copies } as const;
  const paths = await makeRecordings(source, clip, note);
  const some = paths.slice(0, Math.max(poolThreads(), Math.ceil(measuredFrames / clipFrames)));
  const startMs = performance.now();
  const decoded = await decodeByFfmpeg(some, poolThreads());
  const limits: ScaleLimits = hwaccel ? {} : { decodesPerSecond: decoded / ((performance.now() - startMs) / 1000) };
  return { source, frames: copies * clipFrames, job: hwaccel ? { hwaccel } : {}, limits };
}

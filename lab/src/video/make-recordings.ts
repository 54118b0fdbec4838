import { link, mkdir, rename, stat, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openScene } from '@halogrid/bench/scene';
import type { Size } from '@halogrid/geometry';
import { type ClipOrder, makeClip } from '@halogrid/imaging/plain-ffmpeg';
import { cacheFolders, makeFolders } from '@halogrid/service';

export interface ClipOptions extends Size {
  /** A recording; unless given, one is made and kept for the next time. */
  clip?: string;
  codec: ClipOrder['codec'];
  /** Frames of the made clip. */
  frames: number;
  /** Files with the clip. */
  copies: number;
}

const keyEvery = 50;
/** The rate of 1080p; other sizes have as many bits a pixel. */
const bitsASecond = 4_000_000;
/** Drawing a frame takes a tenth of a second. The frames go forwards and backwards, so that nothing leaps. */
const distinctFrames = 32;

/**
 * Makes `folder` with links to one recording and resolves with their paths. Rejects with one sentence if the recording
 * cannot be made.
 */
export async function makeRecordings(
  folder: string,
  options: ClipOptions,
  note: (line: string) => void,
): Promise<string[]> {
  const clip = options.clip === undefined ? await clipOf(options, note) : resolve(options.clip);
  const { size } = await stat(clip);
  note(`${options.copies} copies of a recording of ${(size / 1e6).toFixed(1)} MB`);
  await mkdir(folder);
  const extension = clip.slice(clip.lastIndexOf('.'));
  const paths = Array.from({ length: options.copies }, (_, i) =>
    join(folder, `${String(i).padStart(5, '0')}${extension}`),
  );
  // A hard link cannot point into another file system.
  for (const path of paths) await link(clip, path).catch(() => symlink(clip, path));
  return paths;
}

async function clipOf(options: ClipOptions, note: (line: string) => void): Promise<string> {
  const { codec, width, height, frames } = options;
  const cache = join(cacheFolders(process.env)[0]!, 'bench-recordings');
  const path = join(cache, `street-${codec}-${width}x${height}-${frames}.mp4`);
  if (await stat(path).catch(() => undefined)) return path;
  note(`Making a recording of ${frames} frames, ${width} x ${height}, ${codec}: ${path}`);
  await makeFolders(cache, 0o700);
  const rate = Math.round((bitsASecond * width * height) / (1920 * 1080));
  const size = { width, height };
  const unfinished = `${path}.${process.pid}`;
  await makeClip({ path: unfinished, codec, ...size, bitsASecond: rate, keyEvery }, await street(size, frames));
  await rename(unfinished, path);
  return path;
}

async function street(size: Size, frames: number): Promise<Iterable<Uint8Array>> {
  const scene = await openScene(size);
  const drawn = new Map<number, Uint8Array>();
  const planes = (nth: number) => {
    const made = drawn.get(nth) ?? yuvOf(scene(nth), size);
    drawn.set(nth, made);
    return made;
  };
  return (function* () {
    for (let i = 0; i < frames; i++) {
      const turn = i % (2 * distinctFrames - 2);
      yield planes(turn < distinctFrames ? turn : 2 * distinctFrames - 2 - turn);
    }
  })();
}

/** Planes of the limited range in 4:2:0: luma by BT.601, without colour, which nothing here decodes. */
function yuvOf(rgb: Uint8Array, { width, height }: Size): Uint8Array {
  const planes = new Uint8Array(width * height + 2 * Math.ceil(width / 2) * Math.ceil(height / 2)).fill(128);
  for (let i = 0; i < width * height; i++) {
    const luma = 0.257 * rgb[3 * i]! + 0.504 * rgb[3 * i + 1]! + 0.098 * rgb[3 * i + 2]!;
    planes[i] = 16 + luma;
  }
  return planes;
}

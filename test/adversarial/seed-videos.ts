import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeVideo, videoKinds } from '@halogrid/imaging/testing-videos';
import type { Seed } from './seed-images.ts';

const frames = 10;
const shortGroups = ['-g', '5', '-threads', '1'];

const encoders: Record<string, readonly string[]> = {
  'mjpeg.avi': videoKinds['mjpeg.avi']!,
  'h264.mp4': [...videoKinds['h264.mp4']!, ...shortGroups],
  'h264-open.mkv': [...videoKinds['h264-open.mkv']!, ...shortGroups],
  'h264-open.ts': [...videoKinds['h264-open.ts']!, ...shortGroups],
  'av1.webm': [...videoKinds['av1.webm']!, ...shortGroups],
  'vp9.webm': [...videoKinds['vp9.webm']!, ...shortGroups],
  'mpeg4.avi': [...videoKinds['mpeg4.avi']!, ...shortGroups],
};

/** Makes a small video of every container with the program ffmpeg. */
export function makeSeedVideos(): Seed[] {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-seeds-'));
  try {
    return Object.entries(encoders).map(([name, encoder]) => {
      const path = join(folder, name);
      // Without times, versions and random numbers in the file, so that mutants can be made again.
      makeVideo(path, [...encoder, '-fflags', '+bitexact', '-flags:v', '+bitexact', '-map_metadata', '-1'], frames);
      return { name, bytes: readFileSync(path) };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

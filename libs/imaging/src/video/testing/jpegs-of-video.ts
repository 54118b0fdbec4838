// For tests: the frames of an MJPEG video as JPEG files.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJpeg } from '../../formats/jpeg.ts';
import { readJpeg } from '../../formats/jpeg-header.ts';
import { type PlaneTarget, planesOf } from '../../planes/plane-target.ts';
import { runFfmpeg } from './videos.ts';

/** Each frame's file, as the program ffmpeg copies it. */
export function jpegsOfVideo(path: string): Buffer[] {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-jpegs-'));
  try {
    runFfmpeg(['-i', path, '-map', '0:v:0', '-c', 'copy', '-f', 'image2', join(folder, '%04d.jpg')]);
    return readdirSync(folder)
      .sort()
      .map((name) => readFileSync(join(folder, name)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The pixels of a JPEG as an image of its own, planes one after another. */
export async function pixelsOfJpeg(jpeg: Buffer, channels: PlaneTarget['channels'] = 'gray'): Promise<Buffer> {
  const { width, height } = readJpeg(jpeg);
  const bytes = Buffer.alloc(width * height * planesOf(channels));
  await decodeJpeg(jpeg, { bytes, offset: 0, stride: width, channels, planeBytes: width * height });
  return bytes;
}

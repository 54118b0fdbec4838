import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeVideo, noFfmpeg, videoKinds } from '@halogrid/imaging/testing-videos';
import { makeMutant } from '../adversarial/mutate.ts';
import { makeSeedImages } from '../adversarial/seed-images.ts';
import type { JobRequest } from '../jobs-client.ts';
import { drawPicture, writePgm } from '../picture-files.ts';
import { hashFiles, readErrors, readJson } from '../results.ts';
import { writeTiledTiff } from '../tiled-tiff.ts';

/** A job that is repeated. */
export interface SoakWork {
  name: string;
  request: Omit<JobRequest, 'out'>;
}

const imagePx = 1_536;
const mutants = 80;

/** Writes the sources of every kind of job; videos only if ffmpeg is installed. */
export async function writeSoakWorks(folder: string, seed: number): Promise<SoakWork[]> {
  const source = (name: string): string => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };
  const works: SoakWork[] = [];

  const images = source('images');
  for (let i = 0; i < 60; i++) await writePgm(join(images, `${i}.pgm`), drawPicture(90 + i, 70, i));
  for (const { name, bytes } of await makeSeedImages()) writeFileSync(join(images, name), bytes);
  works.push({ name: 'images', request: { sources: [images], batchFrames: 2, map: 'tiff' } });

  const tile = drawPicture(256, 256, 7);
  const image = join(source('tiles'), 'image.tif');
  await writeTiledTiff(image, { width: imagePx, height: imagePx }, 256, () => tile);
  works.push({ name: 'tiles', request: { sources: [image], tilePx: 48, grid: { rows: 2, columns: 3 }, map: 'zarr' } });

  const damaged = source('mutants');
  const seeds = await makeSeedImages();
  for (let i = 0; i < mutants; i++) {
    const { name, bytes } = makeMutant(seeds, seed, i);
    writeFileSync(join(damaged, name), bytes);
  }
  works.push({ name: 'mutants', request: { sources: [damaged], batchFrames: 2 } });

  if (!noFfmpeg) {
    const videos = source('videos');
    for (const kind of ['mjpeg.avi', 'h264-open.mkv', 'mpeg4.mp4'])
      makeVideo(join(videos, kind), videoKinds[kind]!, 96);
    works.push({ name: 'videos', request: { sources: [videos], batchFrames: 12 } });
  }
  return works;
}

/** All of a job's output that does not depend on when and where it ran. */
export interface SoakOutcome {
  digest: string;
  quarantined: string[];
  /** SHA-256 by path, of histograms, features, maps and previews. */
  files: Record<string, string>;
}

export function readSoakOutcome(out: string): SoakOutcome {
  const job = readJson(out, 'job.json');
  assert.equal(job.state, 'complete', job.error);
  const errors = existsSync(join(out, 'errors.jsonl')) ? readErrors(out) : [];
  const files = hashFiles(out);
  // These files contain attempts and times, which differ.
  for (const name of ['job.json', 'errors.jsonl']) delete files[name];
  return {
    digest: job.digest,
    quarantined: errors.map(({ uri, frame, stage, error }) => `${uri}#${frame} ${stage}: ${error}`).sort(),
    files,
  };
}

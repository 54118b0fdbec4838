import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { lbpByDefinition, type Picture } from '../lbp-definition.ts';
import { drawPicture, writePgm } from '../picture-files.ts';
import { hashFiles, readHistogram, readJson } from '../results.ts';
import { writeTiledTiff } from '../tiled-tiff.ts';

/** Options of every job in fault tests: small shards, so that there is always a next one to disturb. */
export const cut = { tilePx: 32, batchFrames: 2, grid: { rows: 2, columns: 2 }, map: 'tiff' } as const;

const image = { width: 192, height: 192 };
const frames = { count: 10, width: 32, height: 24 };

/** Sources, and their expected LBP results. */
export interface Work {
  folder: string;
  /** The result by the definition. */
  expected: { counted: number; bins: number[] };
  /** The same result without the image. */
  ofFrames: { counted: number; bins: number[] };
  shards: number;
  /** Number of sources. */
  sources: number;
  pixels: number;
}

/** Writes a folder of frames and one image that is read by tiles. */
export async function writeWork(folder: string): Promise<Work> {
  mkdirSync(folder, { recursive: true });
  const whole = drawPicture(image.width, image.height, 99);
  await writeTiledTiff(join(folder, 'image.tif'), image, 64, (x, y) => cutOut(whole, x, y, 64));
  const pictures: Picture[] = [whole];
  for (let i = 0; i < frames.count; i++) {
    const frame = drawPicture(frames.width, frames.height, i + 1);
    await writePgm(join(folder, `frame-${i}.pgm`), frame);
    pictures.push(frame);
  }
  const codes = pictures.map((picture) => lbpByDefinition(picture, 'interior', 'nw-cw-msb'));
  const ofCodes = (added: typeof codes) => ({
    counted: added.reduce((sum, { counted }) => sum + counted, 0),
    bins: added[0]!.bins.map((_, bin) => added.reduce((sum, { bins }) => sum + bins[bin]!, 0)),
  });
  const tiles = Math.ceil(image.width / cut.tilePx) * Math.ceil(image.height / cut.tilePx);
  return {
    folder,
    expected: ofCodes(codes),
    ofFrames: ofCodes(codes.slice(1)),
    shards: tiles + frames.count / cut.batchFrames,
    sources: pictures.length,
    pixels: pictures.reduce((sum, { pixels }) => sum + pixels.length, 0),
  };
}

/** All of a job's output that does not depend on when and where it ran. */
export interface Outcome {
  digest: string;
  histogram: { counted: number; bins: number[] };
  histogramFile: string;
  features: object[];
  maps: Record<string, string>;
  previews: Record<string, string>;
}

export async function readOutcome(out: string): Promise<Outcome> {
  return {
    digest: readJson(out, 'job.json').digest,
    histogram: readHistogram(out),
    histogramFile: readFileSync(join(out, 'histogram.json'), 'utf8'),
    features: await parquetReadObjects({ file: await asyncBufferFromFile(join(out, 'features.parquet')) }),
    maps: hashFiles(out, 'maps'),
    previews: hashFiles(out, 'preview'),
  };
}

function cutOut({ width, pixels }: Picture, left: number, top: number, side: number): Picture {
  const tile = new Uint8Array(side * side);
  for (let y = 0; y < side; y++) {
    const from = (top + y) * width + left;
    tile.set(pixels.subarray(from, from + side), y * side);
  }
  return { width: side, height: side, pixels: tile };
}

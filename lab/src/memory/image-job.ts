import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { drawPicture } from '../../../test/picture-files.ts';
import { readHistogram, readJson } from '../../../test/results.ts';
import { writeTiledTiff } from '../../../test/tiled-tiff.ts';
import { type Peaks, runWithPeaks } from './run-with-peaks.ts';

export interface ImageMeasurement {
  width: number;
  height: number;
  seconds: number;
  mapBytes: number;
  /** Peak resident bytes by the role of the process. */
  peaks: Map<string, Peaks>;
  /** The verdict of the checker of the map. */
  checked: string;
}

const sourceTilePx = 512;
/** Different tiles. Deflating more would take longer than computing them. */
const tileCount = 97;

/** Computes the LBP map of a drawn image of that size, 3 to 2, on the cpu device. */
export async function measureImage(
  folder: string,
  gigapixels: number,
  map: string,
  bits: 8 | 16,
): Promise<ImageMeasurement> {
  mkdirSync(folder);
  const height = Math.round(Math.sqrt((gigapixels * 1e9) / 1.5));
  const width = Math.round(1.5 * height);
  const source = join(folder, 'image.tif');
  const out = join(folder, 'out');
  const tiles = Array.from({ length: tileCount }, (_, i) => {
    const { pixels, ...size } = drawPicture(sourceTilePx, sourceTilePx, i);
    return bits === 8
      ? { ...size, pixels }
      : { ...size, pixels: Uint16Array.from(pixels, (v, at) => 257 * v - (at % 5)) };
  });
  const drawTile = (x: number, y: number) => tiles[((x + 7 * y) / sourceTilePx) % tileCount]!;
  await writeTiledTiff(source, { width, height }, sourceTilePx, drawTile, bits);

  const peaks = await runWithPeaks(['run', source, '--out', out, '--map', map, '--device', 'cpu']);
  const { counted } = readHistogram(out);
  if (counted !== (width - 2) * (height - 2)) throw new Error(`${counted} pixels were counted`);
  const name = readdirSync(join(out, 'maps'))[0]!;
  const path = join(out, 'maps', name);
  return {
    width,
    height,
    seconds: readJson(out, 'job.json').wallSeconds,
    mapBytes: bytesOf(path),
    peaks,
    checked: map === 'tiff' ? checkCog(path) : 'not checked',
  };
}

/** The verdict of GDAL's own structural check of cloud-optimised TIFFs. */
function checkCog(path: string): string {
  const program =
    'from osgeo_utils.samples import validate_cloud_optimized_geotiff as v; import sys; sys.exit(v.main())';
  try {
    const said = execFileSync('/usr/bin/python3', ['-c', program, path], { encoding: 'utf8' });
    return said.split('\n')[0]!.replace(path, '').trim();
  } catch (error) {
    return `not checked: ${(error as Error).message.split('\n')[0]}`;
  }
}

function bytesOf(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

const megabytes = (bytes: number | undefined): string => String(Math.round((bytes ?? 0) / 1e6));

/** A row an image, as a table of Markdown. */
export function describeImages(rows: readonly ImageMeasurement[]): string {
  const roles = ['node', 'coordinator', 'run'];
  const head = ['image', 'Gpx', 'seconds', 'map MB', ...roles.map((role) => `${role} MB`), 'map'];
  const cells = rows.map(({ width, height, seconds, mapBytes, peaks, checked }) => [
    `${width} x ${height}`,
    ((width * height) / 1e9).toFixed(2),
    seconds.toFixed(0),
    megabytes(mapBytes),
    ...roles.map((role) => megabytes(peaks.get(role)?.residentBytes)),
    checked,
  ]);
  return [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp, { type Sharp } from 'sharp';
import { drawPicture, writePgm } from '../../../test/picture-files.ts';
import { writeTiledTiff } from '../../../test/tiled-tiff.ts';

const survey = fileURLToPath(new URL('../../../samples/images/survey.tif', import.meta.url));

/** Different frames of a folder. The others are links to these. */
const differ = 12;

/** Different tiles of a drawn image. Deflating more would take longer than computing them. */
const drawnTiles = 31;
const drawnTilePx = 512;

type Encode = (image: Sharp) => Sharp;

/** A folder of `count` windows of a photograph. */
async function photographs(
  folder: string,
  { count, width, height, extension }: { count: number; width: number; height: number; extension: string },
  encode: Encode,
): Promise<void> {
  mkdirSync(folder);
  for (let i = 0; i < count; i++) {
    const path = join(folder, `${i}.${extension}`);
    if (i >= differ) linkSync(join(folder, `${i % differ}.${extension}`), path);
    else {
      const window = sharp(survey).extract({ left: 150 * i, top: 100 * (i % 5), width, height });
      await encode(window).toFile(path);
    }
  }
}

async function graymaps(folder: string, count: number, width: number, height: number): Promise<void> {
  mkdirSync(folder);
  for (let i = 0; i < count; i++) {
    const path = join(folder, `${i}.pgm`);
    if (i < differ) await writePgm(path, drawPicture(width, height, i));
    else linkSync(join(folder, `${i % differ}.pgm`), path);
  }
}

async function drawnImage(path: string, width: number, height: number, bits: 8 | 16 = 8): Promise<void> {
  const tiles = Array.from({ length: drawnTiles }, (_, i) => {
    const { pixels, ...size } = drawPicture(drawnTilePx, drawnTilePx, i);
    return bits === 8 ? { ...size, pixels } : { ...size, pixels: Uint16Array.from(pixels, (v) => 257 * v) };
  });
  await writeTiledTiff(path, { width, height }, drawnTilePx, (x, y) => tiles[((x + 7 * y) / 512) % drawnTiles]!, bits);
}

/** The photograph in a larger size. */
const enlarged = (width: number, height: number): Sharp => sharp(survey).resize(width, height);

function recording(path: string, frames: number, encoder: readonly string[]): void {
  const source = 'mandelbrot=size=1280x720:rate=25';
  execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, '-frames:v', `${frames}`, ...encoder, path]);
}

/** Draws the inputs of the jobs into `folder` unless it has them. This takes a minute and 400 MB. */
export async function makeInputs(folder: string): Promise<void> {
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return;
  mkdirSync(folder, { recursive: true });
  const at = (name: string): string => join(folder, name);
  const jpeg: Encode = (image) => image.jpeg({ quality: 80 });
  await photographs(at('jpeg-1080p'), { count: 240, width: 1920, height: 1080, extension: 'jpg' }, jpeg);
  await photographs(at('jpeg-vga'), { count: 1500, width: 640, height: 480, extension: 'jpg' }, jpeg);
  await photographs(at('png'), { count: 100, width: 1280, height: 720, extension: 'png' }, (image) => image.png());
  await photographs(at('webp'), { count: 48, width: 1280, height: 720, extension: 'webp' }, (image) => image.webp());
  await photographs(at('tiff'), { count: 300, width: 800, height: 600, extension: 'tif' }, (image) =>
    image.tiff({ compression: 'lzw' }),
  );
  await graymaps(at('pgm-tiny'), 12_000, 64, 48);
  await graymaps(at('pgm'), 200, 1024, 768);
  await graymaps(at('pgm-few'), 24, 1024, 768);
  await writePgm(at('small.pgm'), drawPicture(420, 420));
  await drawnImage(at('small.tif'), 512, 512);
  await drawnImage(at('giga.tif'), 16_384, 12_288);
  await drawnImage(at('half.tif'), 8192, 6144);
  await drawnImage(at('deep.tif'), 8192, 6144, 16);
  await jpeg(enlarged(8200, 5000)).toFile(at('large.jpg'));
  await enlarged(6150, 3750).png({ compressionLevel: 6 }).toFile(at('large.png'));
  recording(at('camera.mp4'), 750, ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-g', '50']);
  recording(at('camera.avi'), 500, ['-c:v', 'mpeg4', '-q:v', '5', '-g', '25']);
  writeFileSync(complete, '');
}

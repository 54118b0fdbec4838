// node scripts/report-pictures.mjs: makes lab/reports/pictures, which docs/reports shows, from a photograph that tests
// use and from drawn textures.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const out = at('lab/reports/pictures');
const photograph = at('libs/kernels/oracle/images/camera.png');
const scratch = mkdtempSync(join(tmpdir(), 'halogrid-pictures-'));

function execute(script, ...words) {
  execFileSync(process.execPath, [at(script), ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
}
const halogrid = (...words) => execute('apps/cli/bin/halogrid.mjs', ...words, '--device', 'cpu');

/** Runs a pipeline over one image; returns the folder of the results. */
function run(name, image, ...pipeline) {
  const folder = join(scratch, name);
  halogrid('run', image, ...pipeline, '--out', folder);
  return folder;
}

/** The map that a run drew, at its own size. */
function mapOf(folder) {
  const png = readdirSync(join(folder, 'preview')).find((name) => name.endsWith('.png'));
  return join(folder, 'preview', png);
}

const side = 256;
const gap = 12;
const captionHeight = 28;
const columns = 4;

/** Writes pictures with captions below them, four in a row. */
async function gallery(name, tiles) {
  const step = { x: side + gap, y: side + captionHeight };
  const at = (i) => ({ left: gap + (i % columns) * step.x, top: gap + Math.floor(i / columns) * step.y });
  const width = gap + Math.min(columns, tiles.length) * step.x;
  const height = gap + Math.ceil(tiles.length / columns) * step.y;
  const captions = tiles.map(({ caption }, i) => {
    return `<text x="${at(i).left}" y="${at(i).top + side + 18}">${caption}</text>`;
  });
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><style>text { font: 14px sans-serif; fill: #111827 }</style>${captions.join('')}</svg>`;
  const pictures = tiles.map(async ({ picture }, i) => ({ input: await squared(picture), ...at(i) }));
  await sharp({ create: { width, height, channels: 3, background: '#ffffff' } })
    .composite([...(await Promise.all(pictures)), { input: Buffer.from(text), left: 0, top: 0 }])
    .png({ compressionLevel: 9 })
    .toFile(join(out, name));
}

const squared = (picture) => sharp(picture).resize(side, side, { kernel: 'lanczos3' }).png().toBuffer();

/** The first of LDP's four directions, 0 degrees. The map holds the four in two rows of two. */
async function firstDirection(folder) {
  const picture = sharp(mapOf(folder));
  const { width, height } = await picture.metadata();
  return picture
    .extract({ left: 0, top: 0, width: width / 2, height: height / 2 })
    .png()
    .toBuffer();
}

/** The layout of a sheet that `halogrid evaluate` draws. */
const sheet = { rows: 12, margin: 12 };

/** Every second row of a sheet with the best five results, in 16 greys. */
async function halfOfSheet(path, name) {
  const { width, height } = await sharp(path).metadata();
  const step = (height - sheet.margin) / sheet.rows;
  const shown = sheet.rows / 2;
  const rows = Array.from({ length: shown }, async (_, i) => {
    const row = sharp(path).extract({ left: 0, top: sheet.margin + 2 * i * step, width, height: step });
    return { input: await row.png().toBuffer(), left: 0, top: sheet.margin + i * step };
  });
  const page = { width, height: sheet.margin + shown * step, channels: 3, background: '#ffffff' };
  const picture = sharp({ create: page }).composite(await Promise.all(rows));
  await sharp(await picture.png().toBuffer())
    .greyscale()
    .png({ palette: true, colours: 16, compressionLevel: 9 })
    .toFile(join(out, name));
}

const original = { picture: photograph, caption: 'the photograph' };

mkdirSync(out, { recursive: true });
try {
  await gallery('r1-map.png', [original, { picture: mapOf(run('r1', photograph, '--op', 'lbp')), caption: 'LBP map' }]);

  const maps = [];
  for (const size of [128, 512, 1024]) {
    const square = join(scratch, `${size}.png`);
    await sharp(photograph).greyscale().resize(size, size).png().toFile(square);
    const folder = run(`r3-${size}`, square, '--op', 'lbp:convention=nw-cw-lsb', '--border', 'zero');
    copyFileSync(join(folder, 'histogram.svg'), join(out, `r3-histogram-${size}.svg`));
    maps.push({ picture: mapOf(folder), caption: `${size} x ${size}` });
  }
  await gallery('r3-maps.png', [original, ...maps]);

  const orders = [];
  for (const order of [2, 3, 4]) {
    const folder = run(`r4-${order}`, photograph, '--op', `ldp:order=${order}`);
    orders.push({ picture: await firstDirection(folder), caption: `LDP of order ${order}, 0 degrees` });
  }
  await gallery('r4-maps.png', [original, ...orders]);

  const textures = join(scratch, 'textures');
  const found = join(scratch, 'found');
  execute('scripts/make-textures.mjs', textures);
  halogrid('evaluate', textures, '--op', 'ldp:order=3', '--block', '16x16', '--out', found);
  await halfOfSheet(join(found, 'top-5.png'), 'r4-top-5.png');

  const kernels = ['gaussian-5', 'gaussian-7', 'sharpen-3', 'log-5', 'prewitt', 'prewitt-x', 'prewitt-y'];
  const filtered = kernels.map((kernel) => ({
    picture: mapOf(run(`r5-${kernel}`, photograph, '--op', `conv:kernel=${kernel}`)),
    caption: kernel,
  }));
  await gallery('r5-gallery.png', [original, ...filtered]);
} finally {
  rmSync(scratch, { recursive: true });
}

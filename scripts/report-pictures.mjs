// node scripts/report-pictures.mjs: the pictures of docs/reports, which halogrid makes of the photographs that its tests have.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { contactSheet } from '@halogrid/results/contact-sheet';
import sharp from 'sharp';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const out = at('docs/reports/pictures');
const photograph = at('libs/kernels/oracle/images/camera.png');
const scratch = mkdtempSync(join(tmpdir(), 'halogrid-pictures-'));

/** Runs a pipeline over one image; the folder of the results. */
function run(name, image, ...pipeline) {
  const folder = join(scratch, name);
  execFileSync(
    process.execPath,
    [at('apps/cli/bin/halogrid.mjs'), 'run', image, ...pipeline, '--device', 'cpu', '--out', folder],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  return folder;
}

function tile(folder, caption) {
  const png = readdirSync(join(folder, 'preview')).find((name) => name.endsWith('.png'));
  return { shown: { uri: pathToFileURL(join(folder, 'preview', png)).href, frame: 0 }, caption: [caption] };
}

const original = { shown: { uri: pathToFileURL(photograph).href, frame: 0 }, caption: ['the photograph'] };

mkdirSync(out, { recursive: true });
try {
  const r1 = run('r1', photograph, '--op', 'lbp');
  writeFileSync(
    join(out, 'r1-map.png'),
    await contactSheet([{ title: 'R1, figures 1 and 2', tiles: [original, tile(r1, 'LBP map')] }]),
  );

  const maps = [];
  for (const side of [128, 512, 1024]) {
    const square = join(scratch, `${side}.png`);
    await sharp(photograph).greyscale().resize(side, side).png().toFile(square);
    const folder = run(`r3-${side}`, square, '--op', 'lbp:convention=nw-cw-lsb', '--border', 'zero');
    copyFileSync(join(folder, 'histogram.svg'), join(out, `r3-histogram-${side}.svg`));
    maps.push(tile(folder, `${side}x${side}`));
  }
  writeFileSync(
    join(out, 'r3-maps.png'),
    await contactSheet([{ title: 'R3, figures 2, 3, 7 and 11', tiles: [original, ...maps] }]),
  );

  const orders = [2, 3, 4].map((order) =>
    tile(run(`r4-${order}`, photograph, '--op', `ldp:order=${order}`), `LDP of order ${order}, 0 degrees`),
  );
  writeFileSync(
    join(out, 'r4-maps.png'),
    await contactSheet([{ title: 'R4, figure 2', tiles: [original, ...orders] }]),
  );

  const kernels = ['gaussian-5', 'gaussian-7', 'box-9', 'sharpen-3', 'log-5', 'prewitt-x', 'prewitt-y', 'prewitt'];
  const filtered = kernels.map((kernel) =>
    tile(run(`r5-${kernel}`, photograph, '--op', `conv:kernel=${kernel}`), kernel),
  );
  writeFileSync(
    join(out, 'r5-gallery.png'),
    await contactSheet([{ title: 'R5, figure 5', tiles: [original, ...filtered] }]),
  );
} finally {
  rmSync(scratch, { recursive: true });
}

// Makes the page of apps/demo as files for any host of static files.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { forBrowsers } from './bundle-kernels.mjs';
import { root } from './install.mjs';

/**
 * Writes the page into a folder.
 *
 * @param {string} folder
 */
export async function bundleDemo(folder) {
  const { build } = await import('esbuild');
  const sources = join(root, 'apps/demo/src');
  mkdirSync(folder, { recursive: true });
  const entryPoints = ['demo.js', 'demo.css'].map((name) => join(sources, name));
  await build({ ...forBrowsers, entryPoints, outdir: folder });
  for (const [from, to] of [
    ['apps/demo/src/index.html', 'index.html'],
    ['apps/console/src/icon.svg', 'icon.svg'],
    ['samples/frames/street-07.jpg', 'sample.jpg'],
  ])
    cpSync(join(root, from), join(folder, to));
}

// The folder that npm packs as @halogrid/client: the client of the HTTP API, its types and licences.
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packagesIn } from '../bundle.mjs';
import { bundleClient } from '../bundle-client.mjs';
import { declareTypes } from '../declare-types.mjs';
import { root } from '../install.mjs';
import { writeLicences } from './licences.mjs';
import { common } from './write-program.mjs';

const entry = 'libs/client/src/index.ts';

const manifest = {
  name: '@halogrid/client',
  ...common,
  description: 'Gives jobs to a cluster of halogrid, from Node.js, Deno and browsers.',
  exports: { '.': { types: `./types/${entry.replace(/ts$/, 'd.ts')}`, default: './index.js' } },
  sideEffects: false,
};

/**
 * Writes the client into a folder, which is replaced.
 *
 * @param {string} folder
 * @returns {Promise<string[]>} places of the packages whose code is in the bundle
 */
export async function writeClient(folder) {
  const bundled = packagesIn(await bundleClient(folder));
  declareTypes(entry, join(folder, 'types'));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const name of ['LICENSE', 'CHANGELOG.md']) cpSync(join(root, name), join(folder, name));
  writeLicences(bundled, join(folder, 'bundled-packages.txt'));
  return bundled;
}

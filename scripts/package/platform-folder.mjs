// Makes a folder that runs without an installed Node. It has the layout of an npm prefix, with the program and its
// packages where 'npm install --global' puts them.
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packagesFor, workspace } from './locked-packages.mjs';
import { packageFolder } from './package-folder.mjs';
import { hasSoftwareDevice, isFileOf } from './platforms.mjs';
import { dependencies } from './write-program.mjs';

const launcher = fileURLToPath(new URL('halogrid', import.meta.url));

/**
 * @param {string} folder the folder to make
 * @param {string} program the folder that `writeProgram` wrote
 * @param {string} platform
 * @returns {Promise<import('./locked-packages.mjs').LockedPackage[]>} the packages in it, including Node
 */
export async function writePlatformFolder(folder, program, platform) {
  const halogrid = join(folder, 'lib/node_modules/halogrid');
  cpSync(program, halogrid, { recursive: true });
  if (!hasSoftwareDevice(platform)) rmSync(join(halogrid, 'packages/@sparticuz'), { recursive: true });
  const packages = packagesFor(Object.keys(dependencies), platform);
  for (const locked of packages) {
    const from = await packageFolder(locked);
    copyFiles(from, join(halogrid, locked.place), (path) => isFileOf(locked.name, path, platform));
  }
  const node = nodeFor(platform);
  const nodeFolder = await packageFolder(node);
  mkdirSync(join(folder, 'bin'));
  cpSync(join(nodeFolder, 'bin/node'), join(folder, 'bin/node'));
  cpSync(join(nodeFolder, 'LICENSE'), join(halogrid, 'licenses/node.txt'));
  cpSync(launcher, join(folder, 'halogrid'));
  return [...packages, node];
}

/** For a platform, the package that has the same Node as the checkout. */
function nodeFor(platform) {
  const name = `node-${platform}`;
  const version = workspace.devDependencies.node;
  return { place: `node_modules/node/node_modules/${name}`, name, version, license: 'MIT' };
}

/** Copies the wanted files of a package, without packages inside it. */
function copyFiles(from, to, isWanted) {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const path = relative(from, join(entry.parentPath, entry.name));
    if (!entry.isFile() || path.startsWith('node_modules/') || !isWanted(path)) continue;
    cpSync(join(from, path), join(to, path));
  }
}

// Makes the folder that npm packs: the bundle, the files that it reads, launchers and licences.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleProgram, isPackage, leastNode, programOf } from '../bundle.mjs';
import { bundleKernels, declareKernels, kernelsExport } from '../bundle-kernels.mjs';
import { declareTypes } from '../declare-types.mjs';
import { root } from '../install.mjs';
import { writeLicences } from './licences.mjs';
import { workspace } from './locked-packages.mjs';

/** Packages that stay beside the bundle, with their versions. */
export const dependencies = Object.fromEntries(
  Object.entries(workspace.dependencies).filter(([name]) => isPackage.test(name)),
);

/** Common fields of the manifests of all packages. */
export const common = {
  version: workspace.version,
  description: workspace.description,
  license: workspace.license,
  type: 'module',
};

const manifest = {
  name: 'halogrid',
  ...common,
  bin: { halogrid: 'bin/halogrid.mjs' },
  exports: {
    '.': { types: './types/apps/cli/src/library.d.ts', default: './program/library.js' },
    './kernels': kernelsExport,
    './package.json': './package.json',
  },
  engines: { node: `>=${leastNode.join('.')}` },
  dependencies,
  // FFmpeg, which users with videos add. Because of this entry, installers that isolate packages from each other make
  // it visible to halogrid.
  peerDependencies: Object.fromEntries(Object.keys(workspace.optionalDependencies).map((name) => [name, '*'])),
  peerDependenciesMeta: Object.fromEntries(
    Object.keys(workspace.optionalDependencies).map((name) => [name, { optional: true }]),
  ),
};

/**
 * Writes the program into a folder, which is replaced.
 *
 * @param {string} folder
 * @returns {Promise<string[]>} places of the packages whose code is in the bundle
 */
export async function writeProgram(folder) {
  const { bundled } = await bundleProgram(folder);
  await bundleKernels(folder);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  mkdirSync(join(folder, 'bin'));
  for (const name of ['halogrid.mjs', 'launch.mjs', 'cores.mjs'])
    cpSync(join(root, 'apps/cli/bin', name), join(folder, 'bin', name));
  writeFileSync(join(folder, 'bin/program.mjs'), programOf("new URL('../program/main.js', import.meta.url)"));
  for (const name of ['LICENSE', 'README.md', 'CHANGELOG.md', 'THIRD-PARTY-NOTICES.md', 'licenses'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  writeLicences(bundled, join(folder, 'licenses/bundled-packages.txt'));
  return bundled;
}

/**
 * Writes the types of the program's modules into its folder.
 *
 * @param {string} folder
 */
export function writeTypes(folder) {
  declareTypes('apps/cli/src/library.ts', join(folder, 'types'));
  declareKernels(folder);
}

// npm run package [DIR]: makes halogrid-VERSION.tgz, for 'npm install', and halogrid-client-VERSION.tgz, its client for browsers and
// others, in dist or another folder.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleClient, bundleProgram, isPackage, leastNode, programOf } from './bundle.mjs';
import { declareTypes } from './declare-types.mjs';
import { install, root } from './install.mjs';

install();
const dist = resolve(process.argv[2] ?? join(root, 'dist'));
const folder = join(dist, 'package');
const workspace = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const common = {
  version: workspace.version,
  description: workspace.description,
  license: workspace.license,
  type: 'module',
};

await bundleProgram(folder);
declareTypes('apps/cli/src/library.ts', join(folder, 'types'));
mkdirSync(join(folder, 'bin'));
for (const name of ['halogrid.mjs', 'launch.mjs']) cpSync(join(root, 'apps/cli/bin', name), join(folder, 'bin', name));
writeFileSync(join(folder, 'bin/program.mjs'), programOf("new URL('../program/main.js', import.meta.url)"));
pack(
  {
    name: 'halogrid',
    ...common,
    bin: { halogrid: 'bin/halogrid.mjs' },
    exports: {
      '.': { types: './types/apps/cli/src/library.d.ts', default: './program/library.js' },
      './package.json': './package.json',
    },
    engines: { node: `>=${leastNode.join('.')}` },
    dependencies: Object.fromEntries(Object.entries(workspace.dependencies).filter(([name]) => isPackage.test(name))),
  },
  ['LICENSE', 'README.md', 'THIRD-PARTY-NOTICES.md', 'licenses'],
);

await bundleClient(folder);
declareTypes('libs/client/src/index.ts', join(folder, 'types'));
pack(
  {
    name: '@halogrid/client',
    ...common,
    exports: { '.': { types: './types/libs/client/src/index.d.ts', default: './index.js' } },
    sideEffects: false,
  },
  ['LICENSE', 'THIRD-PARTY-NOTICES.md', 'licenses'],
);

/** Makes the package of what is in the folder, and prints where it is. */
function pack(manifest, texts) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const name of texts) cpSync(join(root, name), join(folder, name), { recursive: true });
  const packed = spawnSync('npm', ['pack', '--pack-destination', dist, '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  rmSync(folder, { recursive: true });
  if (packed.status !== 0) process.exit(1);
  console.log(join(dist, `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`));
}

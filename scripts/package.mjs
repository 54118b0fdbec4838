// npm run package [DIR]: makes halogrid-VERSION.tgz in dist or another folder, for 'npm install --global'.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleProgram, isPackage, leastNode, programOf } from './bundle.mjs';
import { bundleKernels, kernelsExport } from './bundle-kernels.mjs';
import { install, root } from './install.mjs';

install();
const dist = resolve(process.argv[2] ?? join(root, 'dist'));
const folder = join(dist, 'package');
const workspace = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

await bundleProgram(folder);
await bundleKernels(folder);
writeFileSync(
  join(folder, 'package.json'),
  `${JSON.stringify(
    {
      name: 'halogrid',
      version: workspace.version,
      description: workspace.description,
      license: workspace.license,
      type: 'module',
      bin: { halogrid: 'bin/halogrid.mjs' },
      exports: { './kernels': kernelsExport, './package.json': './package.json' },
      engines: { node: `>=${leastNode.join('.')}` },
      dependencies: Object.fromEntries(Object.entries(workspace.dependencies).filter(([name]) => isPackage.test(name))),
    },
    null,
    2,
  )}\n`,
);
mkdirSync(join(folder, 'bin'));
for (const name of ['halogrid.mjs', 'launch.mjs']) cpSync(join(root, 'apps/cli/bin', name), join(folder, 'bin', name));
writeFileSync(join(folder, 'bin/program.mjs'), programOf("new URL('../program/main.js', import.meta.url)"));
for (const name of ['LICENSE', 'README.md', 'THIRD-PARTY-NOTICES.md', 'licenses'])
  cpSync(join(root, name), join(folder, name), { recursive: true });

const packed = spawnSync('npm', ['pack', '--pack-destination', dist, '--loglevel=error'], {
  cwd: folder,
  stdio: ['ignore', 2, 2],
});
rmSync(folder, { recursive: true });
if (packed.status !== 0) process.exit(1);
console.log(join(dist, `halogrid-${workspace.version}.tgz`));

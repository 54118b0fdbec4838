// Makes the checkout ready to run. Plain JavaScript for Node 20; everything else here runs under the Node in
// node_modules, which this installs.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reasonToInstall } from './reason-to-install.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** The Node that runs everything: 24, from the npm package `node`. */
export const node = join(root, 'node_modules/.bin/node');

/** The environment in which `node` and the other programs of node_modules come first. */
export const environment = { ...process.env, PATH: join(root, 'node_modules/.bin') + delimiter + process.env.PATH };

/** Installs the packages if any is missing. Ends the process with exit code 1 if it cannot. */
export function install() {
  const reason = existsSync(node)
    ? reasonToInstall(readJson('package-lock.json'), readJson('node_modules/.package-lock.json'))
    : 'nothing is installed yet';
  if (reason === undefined) return;
  console.error(`Installing with npm ci: ${reason}.`);
  // All output goes to stderr, because stdout is for results. Node itself is a development dependency, so these are
  // included whatever NODE_ENV is.
  const npm = spawnSync('npm', ['ci', '--include=dev', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (npm.status !== 0) fail(`npm ci failed${npm.error ? `: ${npm.error.message}` : ''}; see above.`);
  if (!existsSync(node)) {
    fail(`npm ci left no ${node}: is 'ignore-scripts' set? The package 'node' needs its install script.`);
  }
}

function readJson(path) {
  const file = join(root, path);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

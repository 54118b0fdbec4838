// Makes, in dist or another folder, halogrid-VERSION.tgz and halogrid-client-VERSION.tgz for npm ('any'), and
// halogrid-VERSION-PLATFORM.tar.gz with Node inside, all of them unless some platforms are named. Beside each are its
// bill of materials and its sum. Prints their paths.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../install.mjs';
import { writeBillOfMaterials } from './bill-of-materials.mjs';
import { lockedAt, workspace } from './locked-packages.mjs';
import { writePlatformFolder } from './platform-folder.mjs';
import { hasSoftwareDevice, platforms } from './platforms.mjs';
import { writeClient } from './write-client.mjs';
import { writeProgram, writeTypes } from './write-program.mjs';
import { writeSum, writeTarball } from './write-tarball.mjs';

const all = ['any', ...Object.keys(platforms)];
const { dist, wanted } = readArguments();
mkdirSync(dist, { recursive: true });
const scratch = mkdtempSync(join(dist, '.package-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));

const program = join(scratch, 'program');
const bundled = (await writeProgram(program)).map(lockedAt);
for (const platform of wanted) await (platform === 'any' ? packForNpm() : packForPlatform(platform));

async function packForNpm() {
  const [typed, client] = ['typed', 'client'].map((name) => join(scratch, name));
  cpSync(program, typed, { recursive: true });
  writeTypes(typed);
  const bundledInClient = (await writeClient(client)).map(lockedAt);
  const npm = spawnSync('npm', ['pack', typed, client, '--loglevel=error'], {
    cwd: dist,
    stdio: ['ignore', 'ignore', 2],
  });
  if (npm.status !== 0) fail('npm pack failed: see above', 1);
  finish(`halogrid-${workspace.version}.tgz`, bundled);
  finish(`halogrid-client-${workspace.version}.tgz`, bundledInClient);
}

async function packForPlatform(platform) {
  const name = `halogrid-${workspace.version}-${platform}`;
  const packages = await writePlatformFolder(join(scratch, name), program, platform);
  await writeTarball(join(scratch, name), join(dist, `${name}.tar.gz`));
  const isInside = ({ name }) => hasSoftwareDevice(platform) || name !== '@sparticuz/chromium';
  finish(`${name}.tar.gz`, [...bundled.filter(isInside), ...packages]);
}

function finish(name, packages) {
  const file = join(dist, name);
  writeSum(file);
  writeBillOfMaterials(`${file.replace(/\.(tgz|tar\.gz)$/, '')}.cdx.json`, packages);
  console.log(file);
}

function readArguments() {
  try {
    const options = { platform: { type: 'string', multiple: true, default: all } };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [folder = join(root, 'dist'), ...others] = positionals;
    if (others.length > 0) throw new Error(`Expected one folder, but received ${positionals.join(', ')}`);
    const unknown = values.platform.find((name) => !all.includes(name));
    if (unknown !== undefined)
      throw new Error(`Expected --platform to be one of ${all.join(', ')}, but received '${unknown}'`);
    return { dist: resolve(folder), wanted: new Set(values.platform) };
  } catch (error) {
    return fail(error.message, 2);
  }
}

function fail(message, code) {
  console.error(message);
  process.exit(code);
}

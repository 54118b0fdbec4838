// Finds the files of a package: in the checkout, or in a cache of packages that npm got from the registry.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { x as extract } from 'tar';
import { root } from '../install.mjs';

/** The cache of packages from the registry. */
const kept = join(root, 'node_modules/.cache/packages');

/**
 * The folder with a package's files, in exactly that version: from the checkout if it has that version installed,
 * otherwise from the registry.
 *
 * @param {{ place: string, name: string, version: string, integrity?: string }} locked
 * @returns {Promise<string>}
 */
export async function packageFolder(locked) {
  const installed = join(root, locked.place);
  return isVersion(installed, locked.version) ? installed : await getPackage(locked);
}

function isVersion(folder, version) {
  const file = join(folder, 'package.json');
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === version;
}

async function getPackage({ name, version, integrity }) {
  const folder = join(kept, `${name}@${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(join(kept, 'unfinished-'));
  try {
    const packed = pack(`${name}@${version}`, unfinished);
    if (integrity && integrityOf(packed) !== integrity)
      throw new Error(`${name}@${version} is not the package that package-lock.json names: ${integrityOf(packed)}`);
    const files = join(unfinished, 'files');
    mkdirSync(files);
    await extract({ file: packed, cwd: files, strip: 1 });
    renameSync(files, folder);
    return folder;
  } finally {
    rmSync(unfinished, { recursive: true });
  }
}

/** Has npm get the tarball of a package, from its own cache if possible; returns its path. */
function pack(what, folder) {
  const { status } = spawnSync('npm', ['pack', what, '--prefer-offline', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 2],
  });
  if (status !== 0) throw new Error(`npm cannot get ${what}: see above`);
  return join(folder, readdirSync(folder)[0]);
}

const integrityOf = (file) => `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;

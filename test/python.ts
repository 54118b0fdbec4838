import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { programLimitMs, within } from '@halogrid/testing';
import type { Ended } from './halogrid.ts';
import { scratchFolder } from './scratch-folder.ts';

export const pythonPackage = fileURLToPath(new URL('../clients/python', import.meta.url));

/** Modules of others that the notebook imports. */
const modules = ['numpy', 'pandas', 'sklearn', 'pip'];

/** Whether a Python finds a module. The module is not imported, because that takes a second for some. */
const has = (python: string, module: string): boolean => {
  const words = ['-c', 'import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)', module];
  return spawnSync(python, words, { stdio: 'ignore' }).status === 0;
};

/**
 * The first of these Pythons that has all modules, else the first that exists. A user's own Python may hide the
 * system's.
 */
const pythons = ['python3', '/usr/bin/python3'].filter((python) => has(python, 'sys'));
const python = pythons.find((each) => modules.every((module) => has(each, module))) ?? pythons[0];

/** Why tests that need Python with these modules are skipped; false if they are not. */
export function lacksPython(...needed: string[]): string | false {
  if (python === undefined) return 'there is no python3';
  const missing = needed.filter((module) => !has(python, module));
  return missing.length > 0 && `${python} has no module ${missing.join(', ')}`;
}

/** Installs the package for this test file with pip, without a network; resolves with its folder. */
export async function installPackage(from: string): Promise<string> {
  const target = join(scratchFolder(), 'site packages');
  const words = ['--quiet', '--no-index', '--no-cache-dir', '--disable-pip-version-check', '--root-user-action=ignore'];
  const { code, stderr } = await runPython(['-m', 'pip', 'install', ...words, '--target', target, from]);
  if (code !== 0) throw new Error(`pip ended with ${code}: ${stderr}`);
  return target;
}

/** Runs Python to its end, with the modules in `path` and with `input` on stdin. */
export async function runPython(
  args: readonly string[],
  {
    path = '',
    input = '',
    cwd,
    env,
  }: { path?: string; input?: string; cwd?: string; env?: Record<string, string> } = {},
): Promise<Ended> {
  const child = spawn(python!, args, {
    cwd,
    env: { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1', PYTHONIOENCODING: 'utf-8', ...env },
  });
  child.stdin.on('error', () => {}).end(input);
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  try {
    const [code, signal] = await within(`python ${args.join(' ')} to end`, once(child, 'close'), programLimitMs);
    const [stdout, stderr] = await said;
    return { code, signal, stdout, stderr };
  } finally {
    child.kill('SIGKILL');
  }
}

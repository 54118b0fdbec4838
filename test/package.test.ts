import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programLimitMs, within } from '@halogrid/testing';
import { x as extract } from 'tar';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';

// The npm package as npm install --global leaves it, but for its dependencies: those of the checkout.

const checkout = fileURLToPath(new URL('..', import.meta.url));
const scratch = scratchFolder();
const installed = join(scratch, 'a prefix/lib/node_modules/halogrid');
const photographs = join(scratch, 'my photographs');

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the program of the package in the folder of photographs, without a home. */
async function halogrid(args: string[], options: string[] = []): Promise<Ended> {
  const words = [...options, join(installed, 'bin/halogrid.mjs'), ...args];
  const env = { PATH: process.env.PATH, XDG_CACHE_HOME: join(scratch, 'cache') };
  const ended = promisify(execFile)(process.execPath, words, { cwd: photographs, env }).then(
    (said) => ({ code: 0, ...said }),
    (error: Ended) => error,
  );
  return await within(`halogrid ${args.join(' ')} to end`, ended, programLimitMs);
}

before(async () => {
  const script = join(checkout, 'scripts/package.mjs');
  await within('the package', promisify(execFile)(process.execPath, [script, scratch]), programLimitMs);
  const [tarball] = readdirSync(scratch).filter((name) => name.endsWith('.tgz'));
  mkdirSync(installed, { recursive: true });
  await extract({ file: join(scratch, tarball!), cwd: installed, strip: 1 });
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const link = join(installed, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(checkout, 'node_modules', name), link);
  }
  cpSync(join(checkout, 'samples/images'), photographs, { recursive: true });
});

test('its version is that of the checkout, and nothing is said beside it', async () => {
  const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const { code, stdout, stderr } = await halogrid(['--version']);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, new RegExp(`^${version} \\(results version \\d+\\)\\n$`));
});

for (const device of ['cpu', 'software']) {
  test(`a job in a folder with a space gives on ${device} what one of the checkout gives`, async () => {
    const plain = join(scratch, 'plain');
    await runUndisturbed([photographs, '--out', plain]);
    const { code, stderr } = await halogrid(['run', '.', '--device', device, '--out', join(scratch, device)]);
    assert.equal(code, 0, stderr);
    assert.equal(readJson(join(scratch, device), 'job.json').digest, readJson(plain, 'job.json').digest);
  });
}

test('a page about the job is written by the package, with its style', async () => {
  const page = join(scratch, 'page.html');
  const { code, stdout } = await halogrid(['show', join(scratch, 'cpu'), '--out', page]);
  assert.deepEqual([code, stdout], [0, `${page}\n`]);
  assert.match(readFileSync(page, 'utf8'), /--accent: #/);
});

test('an older Node is refused before anything else is loaded', async () => {
  const older = "Object.defineProperty(process.versions, 'node', { value: '22.17.1' })";
  const { code, stdout, stderr } = await halogrid(['--version'], ['--import', `data:text/javascript,${older}`]);
  assert.deepEqual([code, stdout, stderr], [1, '', 'halogrid: Node 22.18 or newer is needed; this is 22.17.1\n']);
});

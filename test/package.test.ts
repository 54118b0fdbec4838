import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JobStatus } from '@halogrid/proto';
import { programLimitMs, within } from '@halogrid/testing';
import { x as extract } from 'tar';
import { get } from './get.ts';
import { Halogrid } from './halogrid.ts';
import { makeArtefact } from './make-tarball.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';

// The npm package as 'npm install --global' leaves it, but for its dependencies: those of the checkout.

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

/** Puts the package in the place of what is installed, as npm does, with dependencies of the checkout. */
async function installPackage(): Promise<void> {
  rmSync(installed, { recursive: true, force: true });
  mkdirSync(installed, { recursive: true });
  const [tarball] = readdirSync(scratch).filter((name) => name.endsWith('.tgz'));
  await extract({ file: join(scratch, tarball!), cwd: installed, strip: 1 });
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const link = join(installed, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(checkout, 'node_modules', name), link);
  }
}

before(async () => {
  await makeArtefact('any', scratch);
  await installPackage();
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

test('a package that takes the place of an earlier one goes on with its ledger and its outputs', async (t) => {
  const kept = join(scratch, 'kept');
  const anyPort = '127.0.0.1:0';
  const options = ['--ledger', join(kept, 'ledger.sqlite'), '--listen', anyPort, '--http', anyPort];

  /** Has a coordinator act, which is told where it serves, and resolves with the ids of its jobs then. */
  async function jobsAfter(act: (grpc: unknown) => Promise<void>): Promise<string[]> {
    const coordinator = new Halogrid(['coordinator', ...options], { installed: join(installed, 'bin/halogrid.mjs') });
    t.after(() => coordinator.kill());
    const { grpc, http } = await coordinator.firstLine;
    await act(grpc);
    const { jobs } = (await (await get(`http://127.0.0.1:${http}/api/v1/jobs`)).json()) as { jobs: JobStatus[] };
    coordinator.signal('SIGTERM');
    assert.equal((await coordinator.ended).code, 0);
    return jobs.map(({ jobId }) => jobId);
  }

  const run = ['run', '.', '--device', 'cpu', '--out', join(kept, 'out')];
  const first = await halogrid(run);
  assert.equal(first.code, 0, first.stderr);
  const jobs = await jobsAfter(async (grpc) => {
    const submit = ['submit', photographs, '--out', join(kept, 'waiting'), '--coordinator', `127.0.0.1:${grpc}`];
    const { code, stderr } = await halogrid(submit);
    assert.equal(code, 0, stderr);
  });
  assert.equal(jobs.length, 1);

  await installPackage();
  assert.deepEqual(await jobsAfter(async () => {}), jobs);
  const { code, stdout } = await halogrid(run);
  assert.equal(code, 0);
  assert.match(stdout, /^ +skipped +\d+, as the last run has them; nothing is new$/m);
});

test('a program beside it has its kernels', async () => {
  const program = join(installed, '../../program.mjs');
  writeFileSync(
    program,
    `import { lbp } from 'halogrid/kernels';
const { histogram } = await lbp({ data: new Uint8Array(25), width: 5, height: 5 });
console.log(histogram[255]);`,
  );
  const ended = promisify(execFile)(process.execPath, [program]);
  // A flat picture without its border.
  assert.equal((await within('the program', ended, programLimitMs)).stdout, '9\n');
});

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

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { outputPath, scratchUri } from '@halogrid/jobs/output-paths';
import type { JobSpec } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { eventually, pause, within } from '@halogrid/testing';
import { claimOutputFolder, findUnfinished, releaseOutputFolder, restoreEarlier } from './output-folder.ts';

test('a missing folder is made, and job.json says which process runs which job', async (t) => {
  const out = join(await temporaryFolder(t), 'a', 'b c');
  const spec = specOf(out);
  await claimOutputFolder(spec.out, { jobId: 'job-1', spec });
  t.after(() => releaseOutputFolder(spec.out));
  const { id, state, specification, coordinator } = await readJobJson(out);
  assert.deepEqual([id, state, specification], ['job-1', 'running', spec]);
  assert.deepEqual(coordinator, { host: hostname(), pid: process.pid });
  assert.deepEqual((await readdir(out)).sort(), ['.halogrid', 'job.json']);
  assert.equal(outputPath(spec.out), out);
  assert.equal(scratchUri(spec.out), pathToFileURL(join(out, '.halogrid')).href);
});

test('a folder whose job has ended is waited for until it is released; a running job is not waited for', async (t) => {
  const out = join(await temporaryFolder(t), 'out');
  const spec = specOf(out);
  await claimOutputFolder(spec.out, { jobId: 'first', spec });
  await assert.rejects(claimOutputFolder(spec.out, { jobId: 'second', spec }), / is in use by another job /);
  const first = await readJobJson(out);
  await writeFile(join(out, 'job.json'), JSON.stringify({ ...first, state: 'failed' }));
  let isClaimed = false;
  const claims = claimOutputFolder(spec.out, { jobId: 'second', spec }).then(() => {
    isClaimed = true;
  });
  await pause(50);
  assert.ok(!isClaimed);
  releaseOutputFolder(spec.out);
  t.after(() => releaseOutputFolder(spec.out));
  await claims;
  assert.equal((await readJobJson(out)).id, 'second');
});

test('remains of the same job, left half-way or without results, are removed', async (t) => {
  for (const state of ['running', 'failed', 'cancelled']) {
    const { out, spec } = await leftBehind(t, state);
    await claimOutputFolder(spec.out, { jobId: 'new', spec });
    releaseOutputFolder(spec.out);
    assert.equal((await readJobJson(out)).id, 'new');
    assert.deepEqual((await readdir(out)).sort(), ['.halogrid', 'job.json']);
  }
});

test('the output of a complete job stays until another job is complete, however jobs before that end', async (t) => {
  const { out, spec } = await leftBehind(t, 'complete');
  const before = await readFile(join(out, 'job.json'), 'utf8');
  const output = async () => (await readdir(out, { recursive: true })).filter((name) => !name.startsWith('.halogrid'));
  const files = await output();
  // The first one gives up; the processes of the second and third end, and leave their claims.
  await claimOutputFolder(spec.out, { jobId: 'first', spec });
  releaseOutputFolder(spec.out);
  assert.equal((await readJobJson(out)).id, 'first');
  assert.deepEqual(await output(), files);
  assert.ok(await restoreEarlier(spec.out));
  assert.equal(await readFile(join(out, 'job.json'), 'utf8'), before);
  for (const jobId of ['second', 'third']) {
    await claimOutputFolder(spec.out, { jobId, spec });
    releaseOutputFolder(spec.out);
    assert.equal((await readJobJson(out)).id, jobId);
    assert.deepEqual(await output(), files);
    assert.deepEqual(await readdir(join(out, '.halogrid')), ['earlier.json']);
    await writeFile(join(out, '.halogrid', 'log-1'), 'left behind');
  }
  // The process of the next one ends between the two steps of its claim.
  await rm(join(out, 'job.json'));
  await claimOutputFolder(spec.out, { jobId: 'fourth', spec });
  releaseOutputFolder(spec.out);
  assert.ok(await restoreEarlier(spec.out));
  assert.equal(await readFile(join(out, 'job.json'), 'utf8'), before);
  assert.deepEqual((await readdir(out, { recursive: true })).sort(), files.sort());
});

test('a complete job without a result is replaced by any job, and one with a result is not', async (t) => {
  for (const frames of [0, 1]) {
    const { out, spec } = await leftBehind(t, 'complete', { sources: 3, frames, quarantined: 3 - frames });
    const other = { ...spec, band: { numbers: [2] } };
    const claimed = claimOutputFolder(spec.out, { jobId: 'new', spec: other });
    if (frames > 0) {
      await assert.rejects(claimed, / holds the results of another job \(old\): band is 2 and was not given/);
      continue;
    }
    await claimed;
    releaseOutputFolder(spec.out);
    assert.deepEqual((await readdir(out)).sort(), ['.halogrid', 'job.json']);
    assert.equal((await readJobJson(out)).id, 'new');
  }
});

test('if another job followed a complete one and was left half-way, the sentence says how to go on, and how to go back', async (t) => {
  const { out, spec } = await leftBehind(t, 'complete');
  const before = await readFile(join(out, 'job.json'), 'utf8');
  const grown = { ...spec, grid: { rows: 2, columns: 2 } };
  await claimOutputFolder(spec.out, { jobId: 'grown', spec: grown });
  releaseOutputFolder(spec.out);
  const [earlier, current] = [join(out, '.halogrid', 'earlier.json'), join(out, 'job.json')];
  await assert.rejects(claimOutputFolder(spec.out, { jobId: 'new', spec }), {
    name: 'UsageError',
    message:
      `The output folder '${out}' holds the results of job old, and job grown, which was to follow it, was left half-way: ` +
      'grid is 1x1 and was 2x2. Ask for the same as job grown, which then goes on; give another out; ' +
      `or give up what job grown has done (mv '${earlier}' '${current}')`,
  });
  assert.deepEqual(await findUnfinished(grown), { jobId: 'grown' });
  await rename(earlier, current);
  await claimOutputFolder(spec.out, { jobId: 'new', spec });
  releaseOutputFolder(spec.out);
  assert.ok(await restoreEarlier(spec.out));
  assert.equal(await readFile(current, 'utf8'), before);
});

test('a folder that is not available is refused with one sentence, and nothing is written', async (t) => {
  const other = { ...specOf('/elsewhere'), video: { every: 64, fpsNum: 0, fpsDen: 0, hwaccel: '' } };
  const jobJson = (id: string, extra: object): string =>
    JSON.stringify({ id, state: 'complete', specification: other, ...extra });
  const table: [why: RegExp, files: Record<string, string>][] = [
    [
      /holds the results of another job \(job-0\): video\.every is not given and was 64\. .* another out, or remove/,
      { 'job.json': jobJson('job-0', {}) },
    ],
    [/is not empty and holds no job of halogrid \(it has 'photo.jpg'\): give another out/, { 'photo.jpg': '' }],
    [/holds a job.json that is not of a halogrid job/, { 'job.json': '{"name": "something else"}' }],
    [/holds a job.json that is not of a halogrid job/, { 'job.json': '{"id": "job' }],
  ];
  for (const [why, files] of table) {
    const out = await temporaryFolder(t);
    for (const [name, text] of Object.entries(files)) await writeFile(join(out, name), text);
    await assertRefused(out, why);
    assert.deepEqual(await readdir(out), Object.keys(files));
    for (const [name, text] of Object.entries(files)) assert.equal(await readFile(join(out, name), 'utf8'), text);
  }
});

/** A folder with the remains of a job in this state, whose process has ended. */
async function leftBehind(t: TestContext, state: string, counts?: object) {
  const out = await temporaryFolder(t);
  const spec = specOf(out);
  const dead = { host: hostname(), pid: await pidOfEndedProcess() };
  const claim = { id: 'old', state, specification: spec, coordinator: dead, counts };
  await writeFile(join(out, 'job.json'), JSON.stringify(claim));
  await writeFile(join(out, 'histogram.json'), '{}');
  await writeFile(join(out, 'features.parquet'), '');
  await mkdir(join(out, 'maps'));
  await writeFile(join(out, 'maps', 'a.tif'), '');
  return { out, spec };
}

test('a file, a folder that cannot be made, and another scheme are refused', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'file'), 'text');
  await assertRefused(join(folder, 'file'), /Expected a folder for the output but '.*file' is a file/);
  await assertRefused(join(folder, 'file', 'below'), /file/);
  await assertRefused('/proc/halogrid', /'\/proc\/halogrid' cannot be written: .* \(\w+\); give another out/);
  assert.deepEqual(await readdir(folder), ['file']);
  const spec = specOf(folder);
  await assert.rejects(
    claimOutputFolder('http://host/out', { jobId: 'job-1', spec }),
    /file: or s3: URI .* 'http:\/\/host\/out'/,
  );
});

test('a folder whose job still runs is refused, in this process and in another', async (t) => {
  const out = await temporaryFolder(t);
  const spec = specOf(out);
  await claimOutputFolder(spec.out, { jobId: 'job-1', spec });
  await assertRefused(`${out}/`, /in use by another job of this coordinator/);
  releaseOutputFolder(spec.out);

  const other = spawn('sleep', ['3600']);
  t.after(() => other.kill());
  await once(other, 'spawn');
  const coordinator = { host: hostname(), pid: other.pid };
  await writeFile(
    join(out, 'job.json'),
    JSON.stringify({ id: 'job-1', state: 'running', specification: spec, coordinator }),
  );
  const inUse = new RegExp(`in use by job job-1, which process ${other.pid} still runs`);
  await assertRefused(out, inUse);
  await assert.rejects(findUnfinished(spec), inUse);
});

test('a process that has ended runs no job, even if its parent never reads its status', async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux tells');
  const out = await temporaryFolder(t);
  const spec = specOf(out);
  // The shell becomes `sleep`, which never waits for its child.
  const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 3600'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => parent.kill());
  const pid = Number((await within('a process id', once(parent.stdout, 'data')))[0]);
  const stat = () => readFile(`/proc/${pid}/stat`, 'utf8');
  await eventually('the process to have ended', async () => (await stat()).includes(') Z '));
  const coordinator = { host: hostname(), pid };
  await writeFile(
    join(out, 'job.json'),
    JSON.stringify({ id: 'old', state: 'running', specification: spec, coordinator }),
  );
  await claimOutputFolder(spec.out, { jobId: 'new', spec });
  releaseOutputFolder(spec.out);
  assert.equal((await readJobJson(out)).id, 'new');
});

test('if several processes claim a new folder at once, exactly one gets it', async (t) => {
  const out = join(await temporaryFolder(t), 'new');
  const script = `
    const { claimOutputFolder } = await import(${JSON.stringify(new URL('./output-folder.ts', import.meta.url).href)});
    const spec = ${JSON.stringify(specOf(out))};
    process.stdout.write('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    const answer = await claimOutputFolder(spec.out, { jobId: String(process.pid), spec }).then(() => 'won', (e) => e.name);
    process.stdout.write(answer);
    await new Promise((resolve) => process.stdin.once('data', resolve));
    process.exit();
  `;
  const claimers = Array.from({ length: 3 }, () => spawn(process.execPath, ['--input-type=module', '-e', script]));
  t.after(() => claimers.forEach((claimer) => void claimer.kill()));
  const say = () =>
    claimers.map(async ({ stdout }) => String((await within('a word of a claimer', once(stdout, 'data')))[0]));
  assert.deepEqual(await Promise.all(say()), Array(3).fill('ready'));
  const answers = say();
  for (const claimer of claimers) claimer.stdin.write('go');
  assert.deepEqual((await Promise.all(answers)).sort(), ['UsageError', 'UsageError', 'won']);
  const ends = claimers.map((claimer) => once(claimer, 'exit'));
  for (const claimer of claimers) claimer.stdin.write('end');
  await within('the end of the claimers', Promise.all(ends));
  const winner = (await Promise.all(answers)).indexOf('won');
  assert.equal((await readJobJson(out)).id, String(claimers[winner]!.pid));
});

async function assertRefused(out: string, why: RegExp): Promise<void> {
  const spec = specOf(out);
  await assert.rejects(claimOutputFolder(spec.out, { jobId: 'another-job', spec }), (error: Error) => {
    assert.ok(error instanceof UsageError, String(error));
    assert.match(error.message, why);
    return true;
  });
}

function specOf(out: string): JobSpec {
  return {
    sources: ['file:///in'],
    pipeline: { operations: [{ kernel: 'lbp', parameters: { convention: 'nw-cw-msb' }, border: 'interior' }] },
    op: [],
    out: pathToFileURL(out).href,
    mapFormat: 'none',
    tilePx: 0,
    batchFrames: 0,
    grid: { rows: 1, columns: 1 },
  };
}

async function readJobJson(out: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(out, 'job.json'), 'utf8'));
}

async function pidOfEndedProcess(): Promise<number> {
  const child = spawn('true');
  await within('the end of a process', once(child, 'exit'));
  return child.pid!;
}

async function temporaryFolder(t: { after(act: () => Promise<void>): void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-output-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

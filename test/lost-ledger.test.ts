import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { eventually, freePort, timeoutMs, within } from '@halogrid/testing';
import { startNode } from './cluster.ts';
import { command } from './command.ts';
import { withFaults } from './faults/node-hooks.ts';
import { Halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readMetrics } from './read-metrics.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';
import { slowFiles } from './slow-files.ts';
import { hasChunks, hasResults } from './unfinished.ts';

// The file of a ledger is deleted, replaced or overwritten while a job runs: the coordinator ends with a sentence, no
// other leads beside it, and the job continues if the ledger is put back.

const folder = scratchFolder();
const source = join(folder, 'source');
const undisturbed = join(folder, 'undisturbed');
const undisturbedFrames = join(folder, 'undisturbed-frames');
const job = (out: string): string[] => [source, '--out', out, '--map', 'tiff', '--tile', '48'];
/** Frames in separate shards, because their coordinator reads them from the log again. */
const frames = join(folder, 'frames');
const frameNames = Array.from({ length: 40 }, (_, i) => `frame-${i}.pgm`);
const frameJob = (out: string): string[] => [frames, '--out', out, '--batch', '1', '--map', 'none'];
const slowFrames = withFaults({ open: Object.fromEntries(frameNames.map((name) => [name, timeoutMs(50)])) });

before(async () => {
  mkdirSync(source);
  await writePgm(join(source, 'picture.pgm'), drawPicture(480, 480));
  await runUndisturbed(job(undisturbed));
  mkdirSync(frames);
  for (const [i, name] of frameNames.entries()) await writePgm(join(frames, name), drawPicture(32 + i, 24));
  await runUndisturbed(frameJob(undisturbedFrames));
});

/** Starts a coordinator with its ledger in a separate folder; it ends with the test. */
async function startCoordinator(t: TestContext, ledger: string, address: string) {
  const http = `127.0.0.1:${await freePort()}`;
  const where = ['--listen', address, '--http', http, '--ledger', ledger, '--log-level', 'warn'];
  const program = new Halogrid(['coordinator', ...where]);
  t.after(() => program.kill());
  const metric = async (name: string) => (await readMetrics(`http://${http}`)).get(name)!;
  const epoch = () => metric('halogrid_ledger_epoch');
  const shardsDone = () => metric('halogrid_shards_finished_total{kernel="lbp",outcome="ok"}');
  return { program, epoch, shardsDone };
}

/** Runs a job half-way, on a node that stays. */
async function halfWay(
  t: TestContext,
  name: string,
  jobOf: (out: string) => string[] = job,
  env = slowFiles('picture.pgm'),
) {
  const place = join(folder, name);
  mkdirSync(place);
  const [ledger, out] = [join(place, 'ledger', 'ledger.sqlite'), join(place, 'out')];
  const address = `127.0.0.1:${await freePort()}`;
  const coordinator = await startCoordinator(t, ledger, address);
  await coordinator.program.firstLine;
  const submitted = await command(['submit', ...jobOf(out), '--coordinator', address]);
  assert.equal(submitted.code, 0, submitted.stderr);
  const node = await startNode(address, 'node', 'cpu', [], { env });
  t.after(() => node.program.kill());
  await eventually('the first results', () => hasResults(out));
  return { place, ledger, out, address, coordinator };
}

/** Runs a job half-way, stops its coordinator in order, and copies its ledger. */
async function stoppedHalfWay(t: TestContext, name: string) {
  const { place, ledger, out, address, coordinator } = await halfWay(t, name);
  coordinator.program.signal('SIGTERM');
  assert.equal((await coordinator.program.ended).code, 0);
  const copy = join(place, 'copy');
  copyFileSync(ledger, copy);
  return { ledger, out, address, copy };
}

async function assertEndsComplete(out: string): Promise<void> {
  await eventually('the job to be complete', () => readJson(out, 'job.json').state === 'complete');
  await eventually('its scratch folder to be gone', () => !existsSync(join(out, '.halogrid')));
  assert.equal(readJson(out, 'job.json').digest, readJson(undisturbed, 'job.json').digest);
  assert.deepEqual(hashFiles(out, 'maps'), hashFiles(undisturbed, 'maps'));
}

test('a ledger whose folder is renamed: its leader ends, a new ledger has other epochs, and with the old one put back the job continues', async (t) => {
  const { place, ledger, out, address, coordinator } = await halfWay(t, 'renamed');
  const before = await coordinator.epoch();
  renameSync(join(place, 'ledger'), join(place, 'elsewhere'));
  const other = await startCoordinator(t, ledger, `127.0.0.1:${await freePort()}`);
  // The coordinator notices it when it renews its lease.
  const { code, stderr } = await within('the coordinator to end', coordinator.program.ended);
  assert.equal(code, 1);
  const sentence = `halogrid: The ledger '${ledger}' was deleted or replaced while in use; nothing more is written: `;
  assert.ok(
    stderr.split('\n').some((line) => line.startsWith(sentence)),
    stderr,
  );
  await other.program.firstLine;
  assert.ok((await other.epoch()) > before);
  other.program.signal('SIGTERM');
  assert.equal((await other.program.ended).code, 0);
  assert.equal(readJson(out, 'job.json').state, 'running');

  rmSync(join(place, 'ledger'), { recursive: true });
  renameSync(join(place, 'elsewhere'), join(place, 'ledger'));
  const again = await startCoordinator(t, ledger, address);
  await again.program.firstLine;
  await assertEndsComplete(out);
});

test('a ledger with a changed bit, or overwritten with noise before a start: with a copy the job continues', async (t) => {
  const { ledger, out, address, copy } = await stoppedHalfWay(t, 'noise');

  const changed = readFileSync(copy);
  // All occurrences, because some may be remains of records that SQLite has rewritten since.
  const places: number[] = [];
  for (let at = changed.indexOf(source); at >= 0; at = changed.indexOf(source, at + 1)) places.push(at);
  assert.ok(places.length > 0, 'the job is in the ledger');
  for (const at of places) changed[at + 5]! ^= 4;
  writeFileSync(ledger, changed);
  const ended = await (await startCoordinator(t, ledger, address)).program.ended;
  assert.equal(ended.code, 1, ended.stderr);
  assert.match(ended.stderr, /^halogrid: The ledger is damaged: .* of job \S+ .*\n$/);
  assert.equal(readJson(out, 'job.json').state, 'running');

  copyFileSync(copy, ledger);
  overwrite(ledger);
  await assertRefused(t, ledger, address);
  assert.equal(readJson(out, 'job.json').state, 'running');

  copyFileSync(copy, ledger);
  const last = await startCoordinator(t, ledger, address);
  await last.program.firstLine;
  await assertEndsComplete(out);
});

test('a ledger that is overwritten with noise while a job runs: its leader goes on or ends with a sentence, the next start reports it, and with a copy the job continues', async (t) => {
  const { ledger, out, address, copy } = await stoppedHalfWay(t, 'noise in use');
  const second = await startCoordinator(t, ledger, address);
  await second.program.firstLine;
  const before = await second.shardsDone();
  overwrite(ledger);
  // A ledger is small, so its leader may have all of it in memory and not read it again.
  const goesOn = eventually('more results', async () => (await second.shardsDone()) > before).then(
    () => undefined,
    () => undefined,
  );
  const ended = await Promise.race([second.program.ended, goesOn]);
  if (ended) {
    assert.equal(ended.code, 1);
    assert.match(
      ended.stderr,
      /^halogrid: The ledger is damaged: '.*' cannot be read \(.*\); a copy of it made earlier will do$/m,
    );
  }
  second.program.kill();
  await second.program.ended;
  assert.equal(readJson(out, 'job.json').state, 'running');

  for (const end of ['-wal', '-shm']) rmSync(ledger + end, { force: true });
  await assertRefused(t, ledger, address);
  assert.equal(readJson(out, 'job.json').state, 'running');

  copyFileSync(copy, ledger);
  const last = await startCoordinator(t, ledger, address);
  await last.program.firstLine;
  await assertEndsComplete(out);
});

/** Overwrites all bytes of a file with noise; it stays the same file. */
function overwrite(path: string): void {
  const noise = Uint8Array.from({ length: statSync(path).size }, (_, i) => (i * i * 31 + i * 7 + 5) % 251);
  writeFileSync(path, noise, { flag: 'r+' });
}

async function assertRefused(t: TestContext, ledger: string, address: string): Promise<void> {
  const { code, stderr } = await (await startCoordinator(t, ledger, address)).program.ended;
  assert.equal(code, 1);
  assert.match(stderr, /^halogrid: The ledger '.*' cannot be used: it is not a ledger of halogrid, or damaged\n$/);
}

const logOf = (out: string): string => {
  const [name] = readdirSync(join(out, '.halogrid')).filter((name) => /^log-\d+$/.test(name));
  return join(out, '.halogrid', name!);
};

function changeBit(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 4;
  writeFileSync(path, bytes);
}

test('a log with a changed bit before a start: its job fails with a sentence, and the same command begins again', async (t) => {
  const { place, out, ledger, address, coordinator } = await halfWay(t, 'log', frameJob, slowFrames);
  const other = join(place, 'other');
  assert.equal((await command(['submit', ...frameJob(other), '--coordinator', address])).code, 0);
  coordinator.program.signal('SIGTERM');
  assert.equal((await coordinator.program.ended).code, 0);
  changeBit(logOf(out));
  const again = await startCoordinator(t, ledger, address);
  await again.program.firstLine;
  await eventually('the job to have failed', () => readJson(out, 'job.json').state === 'failed');
  const { error, id } = readJson(out, 'job.json');
  const sentence = `^The results so far of job ${id} are lost: The log '${out}/.halogrid/log-\\d+' has changed `;
  assert.match(error, new RegExp(sentence));
  await assertRightFrames(other);
  const { code, stderr } = await command(['run', ...frameJob(out), '--coordinator', address]);
  assert.equal(code, 0, stderr);
  await assertRightFrames(out);
});

test('a log that is overwritten with noise while in use: its job ends correctly or with a sentence, and others go on', async (t) => {
  const { place, out, address } = await halfWay(t, 'log in use', frameJob, slowFrames);
  const other = join(place, 'other');
  assert.equal((await command(['submit', ...frameJob(other), '--coordinator', address])).code, 0);
  overwrite(logOf(out));
  await eventually('the job to have ended', () => readJson(out, 'job.json').state !== 'running');
  const { state, error } = readJson(out, 'job.json');
  if (state === 'failed') {
    assert.match(error, /The log '.*' has changed at byte \d+ since it was written$/);
    const { code, stderr } = await command(['run', ...frameJob(out), '--coordinator', address]);
    assert.equal(code, 0, stderr);
  }
  await assertRightFrames(out);
  await assertRightFrames(other);
});

test('run: a bit of the log in its output folder has changed', async () => {
  const out = await killedRun('run, bit');
  changeBit(logOf(out));
  const refused = await command(['run', ...frameJob(out), '--device', 'cpu']);
  assert.equal(refused.code, 2, refused.stderr);
  assert.match(
    refused.stderr,
    /^halogrid: Job \S+ in '.*' cannot go on \(.*The log '.*' has changed .*\); remove it to start again\n$/,
  );
  rmSync(out, { recursive: true });
  await runsAgain(out);
});

test('run: the log in its output folder is only noise: the same command begins again', async () => {
  const out = await killedRun('run, noise');
  overwrite(logOf(out));
  await runsAgain(out);
});

/** The output folder of a run that was killed half-way. */
async function killedRun(name: string): Promise<string> {
  const out = join(folder, name);
  const run = new Halogrid(['run', ...frameJob(out), '--device', 'cpu'], { env: slowFrames });
  await eventually('the first results', () => hasResults(out));
  run.kill();
  await run.ended;
  return out;
}

async function runsAgain(out: string): Promise<void> {
  const { code, stderr } = await command(['run', ...frameJob(out), '--device', 'cpu']);
  assert.equal(code, 0, stderr);
  await assertRightFrames(out);
}

async function assertRightFrames(out: string): Promise<void> {
  await eventually('the job to have ended', () => readJson(out, 'job.json').state !== 'running');
  const { state, error, digest } = readJson(out, 'job.json');
  assert.equal(state, 'complete', error);
  assert.equal(digest, readJson(undisturbedFrames, 'job.json').digest);
  assert.deepEqual(readSources(out), readSources(undisturbedFrames));
}

const readSources = (out: string): string[] => readFileSync(join(out, 'sources.jsonl'), 'utf8').split('\n').sort();

test('run: the log in its output folder is deleted', async () => {
  const out = join(folder, 'run');
  const run = new Halogrid(['run', ...job(out), '--device', 'cpu'], { env: slowFiles('picture.pgm') });
  await eventually('the first results', () => hasChunks(out));
  rmSync(join(out, '.halogrid', 'log-1'));
  const { code, stderr } = await within('the run to end', run.ended);
  assert.equal(code, 1);
  assert.match(stderr, /The log '.*log-1' was deleted or replaced while in use/);
  assert.equal(JSON.parse(readFileSync(join(out, 'job.json'), 'utf8')).state, 'failed');
  const again = await command(['run', ...job(out), '--device', 'cpu']);
  assert.equal(again.code, 0, again.stderr);
  await assertEndsComplete(out);
});

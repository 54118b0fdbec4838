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
import { eventually, freePort, standStill, timeoutMs, within } from '@halogrid/testing';
import { startNode } from './cluster.ts';
import { command } from './command.ts';
import { withFaults } from './faults/node-hooks.ts';
import { type Ended, Halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readMetrics } from './read-metrics.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';
import { slowFiles } from './slow-files.ts';
import { hasResults } from './unfinished.ts';

// The file of a ledger is deleted, replaced or overwritten while a job runs: the coordinator ends with a sentence, no
// other leads beside it, and the job continues if the ledger is put back. What `run` does with such logs in its output
// folder is for resume-in-folder.test.ts of the coordinator.

const folder = scratchFolder();
const source = join(folder, 'source');
const undisturbed = join(folder, 'undisturbed');
const undisturbedFrames = join(folder, 'undisturbed-frames');
const job = (out: string): string[] => [source, '--out', out, '--map', 'tiff', '--tile', '48'];
/** Frames in separate shards, because their coordinator reads them from the log again. */
const frames = join(folder, 'frames');
const frameNames = Array.from({ length: 40 }, (_, i) => `frame-${i}.pgm`);
const frameJob = (out: string): string[] => [frames, '--out', out, '--batch', '1', '--map', 'none'];
/** At most as slow as a job needs to be seen half-way: seven jobs read all frames. */
const frameMs = Math.min(timeoutMs(50), 200);
const slowFrames = withFaults({ open: { 'frame-': frameMs } });

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

type Coordinator = Awaited<ReturnType<typeof startCoordinator>>;

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
  return { place, ledger, out, address, coordinator, node };
}

async function endInOrder({ program }: Coordinator): Promise<void> {
  program.signal('SIGTERM');
  assert.equal((await program.ended).code, 0);
}

async function assertEndsComplete(out: string): Promise<void> {
  await eventually('the job to be complete', () => readJson(out, 'job.json').state === 'complete');
  await eventually('its scratch folder to be gone', () => !existsSync(join(out, '.halogrid')));
  assert.equal(readJson(out, 'job.json').digest, readJson(undisturbed, 'job.json').digest);
  assert.deepEqual(hashFiles(out, 'maps'), hashFiles(undisturbed, 'maps'));
}

test('a ledger that is damaged or gone: its leader ends with a sentence, each start refuses it, and with a copy or the ledger itself the job continues', async (t) => {
  const { place, ledger, out, address, coordinator: first, node } = await halfWay(t, 'ledger');
  await endInOrder(first);
  const copy = join(place, 'copy');
  copyFileSync(ledger, copy);
  const isRunning = () => assert.equal(readJson(out, 'job.json').state, 'running');

  const changed = readFileSync(copy);
  // All occurrences, because some may be remains of records that SQLite has rewritten since.
  const places: number[] = [];
  for (let at = changed.indexOf(source); at >= 0; at = changed.indexOf(source, at + 1)) places.push(at);
  assert.ok(places.length > 0, 'the job is in the ledger');
  for (const at of places) changed[at + 5]! ^= 4;
  writeFileSync(ledger, changed);
  const refused = await (await startCoordinator(t, ledger, address)).program.ended;
  assert.equal(refused.code, 1, refused.stderr);
  assert.match(refused.stderr, /^halogrid: The ledger is damaged: .* of job \S+ .*\n$/);
  isRunning();

  copyFileSync(copy, ledger);
  const second = await startCoordinator(t, ledger, address);
  await second.program.firstLine;
  overwrite(ledger);
  const ended = await endsOrGoesOn(second);
  if (ended) {
    assert.equal(ended.code, 1);
    assert.match(
      ended.stderr,
      /^halogrid: The ledger is damaged: '.*' cannot be read \(.*\); a copy of it made earlier will do$/m,
    );
  }
  second.program.kill();
  await second.program.ended;
  isRunning();
  for (const end of ['-wal', '-shm']) rmSync(ledger + end, { force: true });
  const { code, stderr } = await (await startCoordinator(t, ledger, address)).program.ended;
  assert.equal(code, 1);
  assert.match(stderr, /^halogrid: The ledger '.*' cannot be used: it is not a ledger of halogrid, or damaged\n$/);
  isRunning();

  // The job is not to end before its ledger is gone.
  const goOn = standStill(node.pid);
  copyFileSync(copy, ledger);
  const third = await startCoordinator(t, ledger, address);
  await third.program.firstLine;
  const epoch = await third.epoch();
  renameSync(join(place, 'ledger'), join(place, 'elsewhere'));
  const other = await startCoordinator(t, ledger, `127.0.0.1:${await freePort()}`);
  // The coordinator notices it when it renews its lease.
  const gone = await within('the coordinator to end', third.program.ended);
  assert.equal(gone.code, 1);
  const sentence = `halogrid: The ledger '${ledger}' was deleted or replaced while in use; nothing more is written: `;
  assert.ok(
    gone.stderr.split('\n').some((line) => line.startsWith(sentence)),
    gone.stderr,
  );
  await other.program.firstLine;
  assert.ok((await other.epoch()) > epoch);
  await endInOrder(other);
  isRunning();

  rmSync(join(place, 'ledger'), { recursive: true });
  renameSync(join(place, 'elsewhere'), join(place, 'ledger'));
  const last = await startCoordinator(t, ledger, address);
  await last.program.firstLine;
  goOn();
  await assertEndsComplete(out);
});

/**
 * How a coordinator ended whose ledger was overwritten, or undefined if it goes on. A ledger is small, so it may have
 * all of it in memory and not read it again.
 */
async function endsOrGoesOn({ program, shardsDone }: Coordinator): Promise<Ended | undefined> {
  const goesOn = async (): Promise<undefined> => {
    try {
      const before = await shardsDone();
      await eventually('more results', async () => (await shardsDone()) > before);
    } catch {
      // It ends: it no longer answers.
      await program.ended;
    }
  };
  return Promise.race([program.ended, goesOn()]);
}

/** Overwrites all bytes of a file with noise; it stays the same file. */
function overwrite(path: string): void {
  const noise = Uint8Array.from({ length: statSync(path).size }, (_, i) => (i * i * 31 + i * 7 + 5) % 251);
  writeFileSync(path, noise, { flag: 'r+' });
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

test('logs that are deleted or overwritten with noise while in use, or changed before a start: each job ends correctly or with a sentence, others go on, and the same command begins again', async (t) => {
  const { place, out, ledger, address, coordinator } = await halfWay(t, 'log', frameJob, slowFrames);
  const [deleted, changed, other] = ['deleted', 'changed', 'other'].map((name) => join(place, name));
  const submit = async (out: string) => {
    const { code, stderr } = await command(['submit', ...frameJob(out), '--coordinator', address]);
    assert.equal(code, 0, stderr);
  };
  const runAgain = async (out: string) => {
    const { code, stderr } = await command(['run', ...frameJob(out), '--coordinator', address]);
    assert.equal(code, 0, stderr);
    await assertRightFrames(out);
  };
  // At once, because the job may be over soon.
  overwrite(logOf(out));
  await submit(deleted!);
  await eventually('results', () => hasResults(deleted!));
  rmSync(logOf(deleted!));
  await untilEnded(out, deleted!);
  const noise = readJson(out, 'job.json');
  if (noise.state === 'failed') {
    assert.match(noise.error, /The log '.*' has changed at byte \d+ since it was written$/);
    await runAgain(out);
  } else await assertRightFrames(out);
  const lost = readJson(deleted!, 'job.json');
  assert.equal(lost.state, 'failed');
  assert.match(lost.error, /The log '.*' was deleted or replaced while in use/);
  await runAgain(deleted!);

  await submit(other!);
  await submit(changed!);
  await eventually('results', () => hasResults(changed!));
  await endInOrder(coordinator);
  changeBit(logOf(changed!));
  const again = await startCoordinator(t, ledger, address);
  await again.program.firstLine;
  await untilEnded(changed!);
  const { state, error, id } = readJson(changed!, 'job.json');
  assert.equal(state, 'failed');
  const sentence = `^The results so far of job ${id} are lost: The log '${changed}/.halogrid/log-\\d+' has changed `;
  assert.match(error, new RegExp(sentence));
  await assertRightFrames(other!);
  await runAgain(changed!);
});

async function untilEnded(...outs: string[]): Promise<void> {
  for (const out of outs)
    await eventually('the job to have ended', () => readJson(out, 'job.json').state !== 'running');
}

async function assertRightFrames(out: string): Promise<void> {
  await untilEnded(out);
  const { state, error, digest } = readJson(out, 'job.json');
  assert.equal(state, 'complete', error);
  assert.equal(digest, readJson(undisturbedFrames, 'job.json').digest);
  assert.deepEqual(readSources(out), readSources(undisturbedFrames));
}

const readSources = (out: string): string[] => readFileSync(join(out, 'sources.jsonl'), 'utf8').split('\n').sort();

import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { eventually, freePort, within } from '@halogrid/testing';
import { startNode } from './cluster.ts';
import { command } from './command.ts';
import { Halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readMetrics } from './read-metrics.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';
import { slowFiles } from './slow-files.ts';
import { hasChunks } from './unfinished.ts';

// The file of a ledger is deleted, replaced or overwritten while a job runs: the coordinator ends with a sentence, nobody else leads
// beside it, and the job goes on where the ledger is put back.

const folder = scratchFolder();
const source = join(folder, 'source');
const undisturbed = join(folder, 'undisturbed');
const job = (out: string, tilePx = 48): string[] => [source, '--out', out, '--map', 'tiff', '--tile', String(tilePx)];

before(async () => {
  mkdirSync(source);
  await writePgm(join(source, 'picture.pgm'), drawPicture(480, 480));
  await runUndisturbed(job(undisturbed));
});

/** A coordinator with its ledger in a folder of its own; it has ended when the test has. */
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

/** A job that is half-way, by a node that stays. */
async function halfWay(t: TestContext, name: string, tilePx?: number) {
  const place = join(folder, name);
  mkdirSync(place);
  const [ledger, out] = [join(place, 'ledger', 'ledger.sqlite'), join(place, 'out')];
  const address = `127.0.0.1:${await freePort()}`;
  const coordinator = await startCoordinator(t, ledger, address);
  await coordinator.program.firstLine;
  const submitted = await command(['submit', ...job(out, tilePx), '--coordinator', address]);
  assert.equal(submitted.code, 0, submitted.stderr);
  const node = await startNode(address, 'node', 'cpu', [], { env: slowFiles('picture.pgm') });
  t.after(() => node.program.kill());
  await eventually('the first results', () => hasChunks(out));
  return { place, ledger, out, address, coordinator };
}

async function assertEndsComplete(out: string): Promise<void> {
  await eventually('the job to be complete', () => readJson(out, 'job.json').state === 'complete');
  await eventually('its scratch folder to be gone', () => !existsSync(join(out, '.halogrid')));
  assert.equal(readJson(out, 'job.json').digest, readJson(undisturbed, 'job.json').digest);
  assert.deepEqual(hashFiles(out, 'maps'), hashFiles(undisturbed, 'maps'));
}

test('a ledger whose folder is renamed: who leads it ends, the next has other epochs, and put back the job goes on', async (t) => {
  const { place, ledger, out, address, coordinator } = await halfWay(t, 'renamed');
  const before = await coordinator.epoch();
  renameSync(join(place, 'ledger'), join(place, 'elsewhere'));
  const other = await startCoordinator(t, ledger, `127.0.0.1:${await freePort()}`);
  // When it asks for its lease again.
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

test('a ledger of which a bit has changed, or that is overwritten with noise before a start or while a job runs; with a copy the job goes on', async (t) => {
  const { place, ledger, out, address, coordinator } = await halfWay(t, 'noise', 24);
  // A leader notices noise in what it has to read: a ledger that it has read all of at its start must not do.
  await eventually('a third of the job', async () => (await coordinator.shardsDone()) > 400 / 3);
  coordinator.program.signal('SIGTERM');
  assert.equal((await coordinator.program.ended).code, 0);
  const copy = join(place, 'copy');
  copyFileSync(ledger, copy);
  const overwrite = () => {
    const noise = Uint8Array.from({ length: statSync(ledger).size }, (_, i) => (i * i * 31 + i * 7 + 5) % 251);
    writeFileSync(ledger, noise, { flag: 'r+' });
  };

  const changed = readFileSync(copy);
  // All of them, because some may be what SQLite has left of records that were written since.
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

  const second = await startCoordinator(t, ledger, address);
  await second.program.firstLine;
  overwrite();
  const { code, stderr } = await within('the coordinator to end', second.program.ended);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^halogrid: The ledger is damaged: '.*' cannot be read \(.*\); a copy of it made earlier will do$/m,
  );
  assert.equal(readJson(out, 'job.json').state, 'running');

  for (const end of ['-wal', '-shm']) rmSync(ledger + end, { force: true });
  const third = await startCoordinator(t, ledger, address);
  const refused = await third.program.ended;
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /^halogrid: The ledger '.*' cannot be used: it is not a ledger of halogrid, or damaged\n$/,
  );
  assert.equal(readJson(out, 'job.json').state, 'running');

  copyFileSync(copy, ledger);
  const last = await startCoordinator(t, ledger, address);
  await last.program.firstLine;
  await assertEndsComplete(out);
});

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

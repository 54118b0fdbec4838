import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, test } from 'node:test';
import { logFormat } from '@halogrid/ledger';
import { eventually, freePort, pause } from '@halogrid/testing';
import { startNode } from './cluster.ts';
import { command } from './command.ts';
import { Halogrid, halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hasProc } from './process-list.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { seeded } from './seeded.ts';
import { runUndisturbed } from './shared-cluster.ts';
import { repetitions } from './thorough.ts';
import { hasChunks } from './unfinished.ts';

// A coordinator may die at any moment: acknowledged results are not computed again, and the final output is the same as
// of an undisturbed job.

const skip = hasProc ? false : 'which processes there are is told by /proc';

/** How often each job is killed; the moments follow from the seed. */
const kills = repetitions('HALOGRID_TEST_KILLS', 1, 6);
const seed = Number(process.env.HALOGRID_TEST_SEED ?? 1);

const folder = scratchFolder();
const source = join(folder, 'source');
const undisturbed = join(folder, 'undisturbed');

/** At most this many shards are in flight: held by so many nodes, or being committed. */
const maxInFlight = (nodes: number): number => nodes * 64 + 16;
/**
 * The share of a job's shards that may be leased twice because they take long, also without kills (docs/operations.md).
 */
const copiesShare = 0.1;

const cut = [source, '--map', 'tiff', '--tile', '30', '--batch', '1'];
const job = (out: string): string[] => [...cut, '--out', out];
const local = ['--nodes', '2', '--device', 'cpu'];
const onOne = ['--nodes', '1', '--device', 'cpu'];

before(async () => {
  mkdirSync(source);
  for (let i = 0; i < 40; i++) await writePgm(join(source, `frame-${i}.pgm`), drawPicture(20, 20 + (i % 5)));
  await writePgm(join(source, 'picture.pgm'), drawPicture(240, 270));
  await runUndisturbed(job(undisturbed));
});

// One kill is what the next test does.
const skipOne = skip || (kills < 2 && 'is repeated by HALOGRID_THOROUGH=1');

test(`run: killed ${kills} times with all its processes, the same command completes it`, {
  skip: skipOne,
}, async (t) => {
  const out = join(folder, 'run');
  const random = seeded(seed);
  let interrupted = 0;
  for (let kill = 0; kill < kills && !isComplete(out); kill++) {
    const before = claimant(out);
    const run = new Halogrid(['run', ...job(out), ...local], { ownGroup: true });
    const refused = run.ended.then(({ stderr }) => assert.ok(claimant(out) !== before, stderr));
    await Promise.race([eventually('the job to go on', () => claimant(out) !== before), refused]);
    await Promise.race([pause(random() * 1500), run.ended]);
    if (!isComplete(out)) interrupted++;
    run.kill();
    await run.ended;
    await eventually('its processes to be gone', () => run.processes().length === 0);
  }
  // A job that was complete before the last kill has nothing left to do, so it is run with --fresh.
  const { code, stderr } = await halogrid(['run', ...job(out), ...local, ...(isComplete(out) ? ['--fresh'] : [])]);
  assert.equal(code, 0, stderr);
  t.diagnostic(`seed ${seed}: ${interrupted} kills came before the end`);
  assertSame(out, interrupted, 2);
});

test('a run that is killed half-way: its output folder is refused for another job, and by another version, with advice; without --out, the same command completes the newest one', {
  skip,
}, async () => {
  const cwd = join(folder, 'here');
  mkdirSync(cwd);
  const args = ['run', ...cut, ...onOne];
  const run = new Halogrid(args, { ownGroup: true, cwd });
  const folders = (): string[] =>
    existsSync(join(cwd, 'halogrid-out')) ? readdirSync(join(cwd, 'halogrid-out')).sort() : [];
  const newest = (): string => join(cwd, 'halogrid-out', folders()[0]!);
  await eventually('the first results', () => folders()[0] && hasChunks(newest()));
  run.kill();
  await run.ended;
  await eventually('its processes to be gone', () => run.processes().length === 0);
  const out = newest();
  const files = hashFiles(out);
  const { id } = readJson(out, 'job.json');
  const gridded = await command([...args, '--grid', '2x2', '--out', out]);
  assert.equal(gridded.code, 2);
  assert.match(gridded.stderr, new RegExp(`The output folder '${out}' holds the results of another job \\(${id}\\)`));
  assert.deepEqual(hashFiles(out), files);

  const older = leaveLedger(out, 1);
  // In a separate process, because a process keeps its claim to the folder while it lives.
  const refused = await halogrid([...args, '--out', out]);
  assert.equal(refused.code, 2);
  const sentence =
    `halogrid: Job ${id} in '${out}' was left half-way by an older version (ledger format 1, this is ${logFormat}): ` +
    `finish it with that version, or remove '${out}' to start again`;
  assert.ok(refused.stderr.split('\n').includes(sentence), refused.stderr);
  assert.equal(readJson(out, 'job.json').state, 'running');
  rmSync(older);

  const other = await command(['run', join(source, 'frame-0.pgm'), ...onOne], cwd);
  assert.equal(other.code, 0, other.stderr);
  assert.equal(folders().length, 2);
  const again = await halogrid(args, { cwd });
  assert.equal(again.code, 0, again.stderr);
  assert.equal(folders().length, 2);
  assertSame(out, 1, 1);
});

/** Leaves a ledger with that format in the output folder, as another version would; returns its path. */
function leaveLedger(out: string, format: number): string {
  const path = join(out, '.halogrid', 'ledger.sqlite');
  const db = new DatabaseSync(path);
  db.exec(`CREATE TABLE entries (x); PRAGMA application_id = ${0x48414c4f}; PRAGMA user_version = ${format}`);
  db.close();
  return path;
}

// kills.test.ts always kills a coordinator once.
test('a coordinator that is killed and started again completes its job with the node that stays', {
  skip: skip || (kills < 2 && 'is run by HALOGRID_THOROUGH=1'),
}, async (t) => {
  const out = join(folder, 'cluster');
  const address = `127.0.0.1:${await freePort()}`;
  const ledger = ['--ledger', join(folder, 'ledger.sqlite')];
  const where = ['--listen', address, '--http', '127.0.0.1:0', '--log-level', 'warn'];
  const startCoordinator = () => new Halogrid(['coordinator', ...where, ...ledger]);
  let coordinator = startCoordinator();
  await coordinator.firstLine;
  const node = await startNode(address, 'n1');
  t.after(() => [coordinator, node.program].forEach((program) => void program.kill()));
  const submitted = await command(['submit', ...job(out), '--coordinator', address]);
  assert.equal(submitted.code, 0, submitted.stderr);

  const random = seeded(seed + 1);
  let interrupted = 0;
  // Few kills, because each start waits for the end of the earlier lease.
  for (let kill = 0; kill < kills / 3 && !isComplete(out); kill++) {
    if (kill === 0) await eventually('the first results', () => hasChunks(out));
    else await pause(random() * 1500);
    if (!isComplete(out)) interrupted++;
    coordinator.kill();
    await coordinator.ended;
    coordinator = startCoordinator();
    await coordinator.firstLine;
  }
  await eventually('the job to be complete', () => isComplete(out) && !existsSync(join(out, '.halogrid')));
  t.diagnostic(`seed ${seed}: ${interrupted} kills came before the end`);
  assert.ok(interrupted > 0);
  assertSame(out, interrupted, 1);
  for (const program of [node.program, coordinator]) {
    program.signal('SIGTERM');
    assert.equal((await program.ended).code, 0);
  }
});

/** Id of the process that runs, or last ran, the job in this folder. */
function claimant(out: string): number | undefined {
  try {
    return readJson(out, 'job.json').coordinator?.pid;
  } catch {
    return undefined;
  }
}

function isComplete(out: string): boolean {
  try {
    return readJson(out, 'job.json').state === 'complete';
  } catch {
    return false;
  }
}

function assertSame(out: string, interrupted: number, nodes: number): void {
  const [is, was] = [out, undisturbed].map((path) => readJson(path, 'job.json'));
  assert.equal(is.digest, was.digest);
  const { attempts, ...counts } = is.counts;
  const { attempts: _, ...sameCounts } = was.counts;
  assert.deepEqual(counts, sameCounts);
  const mayBeRepeated = interrupted * maxInFlight(nodes) + copiesShare * counts.shards;
  assert.ok(attempts - counts.shards <= mayBeRepeated, `${attempts} attempts, ${interrupted} kills`);
  assert.equal(
    is.nodes.reduce((sum: number, { shards }: { shards: number }) => sum + shards, 0),
    counts.shards,
  );
  const files = hashFiles(out);
  const expected = hashFiles(undisturbed);
  delete files['job.json'];
  delete expected['job.json'];
  assert.deepEqual(files, expected);
}

import assert from 'node:assert/strict';
import {
  closeSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { FencedError, isLedgerLost, openRegistry, type Registry } from '@halogrid/ledger';
import { JobSpec } from '@halogrid/proto';
import { memoryFolder, repeated } from '@halogrid/testing';
import { runLocalJob } from './testing/local-job.ts';
import { SeededRandom } from './testing/simulation/seeded-random.ts';

// Parts of a ledger's file are overwritten with noise. Whichever parts they are, the job ends right, or the ledger is
// refused with a sentence; then the job and its folder are unchanged, and go on with an earlier copy of the ledger. The
// same is done to parts of a job's log: the job ends right, or with an error that names the log.

const runs = repeated(2);
const seed = Number(process.env.HALOGRID_TEST_SEED ?? 1);
const pageBytes = 4096;

const folder = mkdtempSync(join(memoryFolder, 'halogrid-noise-'));
const source = join(folder, 'source');
after(() => rmSync(folder, { recursive: true, force: true }));

const shards = 30;
let digest = '';

before(async () => {
  mkdirSync(source);
  for (let i = 0; i < shards; i++) {
    const pixels = Uint8Array.from({ length: 63 }, (_, p) => (p * p * (i + 3)) % 251);
    writeFileSync(
      join(source, `${String(i).padStart(60, '-')}.pgm`),
      Buffer.concat([Buffer.from('P5\n9 7\n255\n'), pixels]),
    );
  }
  const { job, close } = await open(join(folder, 'undisturbed'));
  await runLocalJob(job);
  await close();
  digest = jobJson(join(folder, 'undisturbed')).digest;
  assert.match(digest, /^[0-9a-f]{64}$/);
});

const jobJson = (place: string) => JSON.parse(readFileSync(join(place, 'out', 'job.json'), 'utf8'));

/** A job in a folder, and its ledger beside it. */
async function open(place: string, over: (registry: Registry) => Registry = (registry) => registry) {
  const uris = { sources: [pathToFileURL(source).href], out: pathToFileURL(join(place, 'out')).href };
  const pipeline = { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] };
  const spec = JobSpec.fromPartial({ ...uris, pipeline, batchFrames: 1 });
  const registry = await openRegistry(join(place, 'ledger.sqlite'));
  return { job: { jobId: 'job', spec, registry: over(registry) }, close: () => registry.close() };
}

/** Overwrites a page of a file, or a part of a page. */
function overwrite(file: number, random: SeededRandom, sizeBytes: number): void {
  const page = random.whole(0, sizeBytes / pageBytes - 1);
  const from = random.chance(1 / 4) ? random.whole(0, pageBytes - 1) : 0;
  const noise = Uint8Array.from({ length: random.whole(1, pageBytes - from) }, () => random.whole(0, 255));
  writeSync(file, noise, 0, noise.length, page * pageBytes + from);
}

/** The rest of a row may also say that another coordinator leads. */
const isLostLedger = (error: unknown): boolean =>
  isLedgerLost(error) || error instanceof FencedError || / cannot be used: /.test(String(error));
const isDamagedLog = (error: unknown): boolean => /(^|: )The log '.*' has changed /.test((error as Error).message);

/** Whether the job ended right; if not, asserts that `isRight` accepts its error. */
async function endsWell(place: string, act: () => Promise<unknown>, isRight = isLostLedger): Promise<boolean> {
  try {
    await act();
  } catch (error) {
    assert.ok(isRight(error), (error as Error).stack);
    if (isRight === isLostLedger) assert.equal(jobJson(place).state, 'running');
    else assert.notEqual(jobJson(place).state, 'complete');
    return false;
  }
  assert.deepEqual([jobJson(place).state, jobJson(place).digest], ['complete', digest]);
  return true;
}

async function goesOnWith(place: string, copy: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) rmSync(join(place, `ledger.sqlite${end}`), { force: true });
  copyFileSync(copy, join(place, 'ledger.sqlite'));
  const again = await open(place);
  await runLocalJob(again.job);
  await again.close();
  assert.deepEqual([jobJson(place).state, jobJson(place).digest], ['complete', digest]);
}

test(`noise in the file before a start, ${runs} times`, async (t) => {
  const place = join(folder, 'half');
  const half = await open(place);
  await runLocalJob(half.job, shards / 2);
  await half.close();
  const asLeft = join(folder, 'as-left');
  cpSync(place, asLeft, { recursive: true });
  const copy = join(asLeft, 'ledger.sqlite');
  let refused = 0;
  for (let run = 0; run < runs; run++) {
    const random = new SeededRandom(1000 * seed + run);
    rmSync(place, { recursive: true });
    cpSync(asLeft, place, { recursive: true });
    const path = join(place, 'ledger.sqlite');
    const file = openSync(path, 'r+');
    overwrite(file, random, statSync(path).size);
    closeSync(file);
    let close = async (): Promise<void> => {};
    const isWell = await endsWell(place, async () => {
      const opened = await open(place);
      close = opened.close;
      await runLocalJob(opened.job);
    });
    await close();
    if (isWell) continue;
    refused++;
    await goesOnWith(place, copy);
  }
  t.diagnostic(`seed ${seed}: ${refused} were refused`);
  assert.ok(runs < 6 || refused > 0);
});

test(`noise in the file while it is in use, ${runs} times`, async (t) => {
  let refused = 0;
  for (let run = 0; run < runs; run++) {
    const random = new SeededRandom(2000 * seed + run);
    const place = join(folder, `while-${run}`);
    mkdirSync(place);
    const path = join(place, 'ledger.sqlite');
    // Opened once, and closed last: a process that closes a file loses its locks, SQLite's too.
    const file = openSync(path, 'wx+');
    const beforeWrite = random.whole(0, shards);
    let writes = 0;
    const { job, close } = await open(place, (registry) => {
      const write: Registry['write'] = async (epoch, changes) => {
        if (writes++ === beforeWrite) disturb(path, place, file, random);
        await registry.write(epoch, changes);
      };
      return { ...methodsOf(registry), write };
    });
    const isWell = await endsWell(place, () => runLocalJob(job));
    await close();
    closeSync(file);
    if (isWell) continue;
    refused++;
    await goesOnWith(place, join(place, 'copy'));
  }
  t.diagnostic(`seed ${seed}: ${refused} were refused`);
  assert.ok(runs < 6 || refused > 0);
});

for (const [when, beforeWrite] of [
  ['before a start', shards / 2],
  ['while it is in use', undefined],
] as const) {
  test(`noise in a log ${when}, ${runs} times`, async (t) => {
    let refused = 0;
    for (let run = 0; run < runs; run++) {
      const random = new SeededRandom(3000 * seed + run);
      const place = join(folder, `log ${when} ${run}`);
      mkdirSync(place);
      const disturbAt = random.whole(1, shards);
      let writes = 0;
      const { job, close } = await open(place, (store) => {
        const write: Registry['write'] = async (epoch, changes) => {
          if (writes++ === disturbAt && beforeWrite === undefined) overwriteLog(place, random);
          await store.write(epoch, changes);
        };
        return { ...methodsOf(store), write };
      });
      if (beforeWrite !== undefined) {
        await runLocalJob(job, beforeWrite);
        overwriteLog(place, random);
      }
      if (!(await endsWell(place, () => runLocalJob(job), isDamagedLog))) refused++;
      await close();
    }
    t.diagnostic(`seed ${seed}: ${refused} were refused`);
    assert.ok(runs < 6 || refused > 0);
  });
}

function overwriteLog(place: string, random: SeededRandom): void {
  const logs = join(place, 'out', '.halogrid', 'job');
  const path = join(logs, readdirSync(logs)[0]!);
  const file = openSync(path, 'r+');
  const { size } = statSync(path);
  const at = random.whole(0, size - 1);
  const noise = Uint8Array.from({ length: random.whole(1, size - at) }, () => random.whole(0, 255));
  writeSync(file, noise, 0, noise.length, at);
  closeSync(file);
}

/** Puts the whole ledger into its file and nothing into memory, copies it, and then writes noise to the file. */
function disturb(path: string, place: string, file: number, random: SeededRandom): void {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.exec(`VACUUM INTO '${join(place, 'copy')}'`);
  const { size } = statSync(path);
  db.close();
  overwrite(file, random, size);
}

/** The methods of a registry, to be spread. */
function methodsOf(registry: Registry): Registry {
  return {
    acquire: (holder, ms) => registry.acquire(holder, ms),
    renew: (epoch, ms) => registry.renew(epoch, ms),
    release: (epoch) => registry.release(epoch),
    leader: () => registry.leader(),
    jobs: (ids) => registry.jobs(ids),
    write: (epoch, changes) => registry.write(epoch, changes),
    writeHistories: (epoch, histories) => registry.writeHistories(epoch, histories),
    history: (jobId) => registry.history(jobId),
    close: () => registry.close(),
  };
}

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { matched, programLimitMs, within } from '@halogrid/testing';
import { drawPicture, writePgm } from './picture-files.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';
import { slowFiles } from './slow-files.ts';

// A disk fills up while a job runs: its output is complete, or there is only a sentence that says why not.

const folder = scratchFolder();
const disk = join(folder, 'disk');
const source = join(folder, 'picture.pgm');
/** Shell command that starts a program beside this file. */
const program = (path: string): string => `'${process.execPath}' '${fileURLToPath(new URL(path, import.meta.url))}'`;

/** Arguments of unshare that give a script a private disk, without root, and processes that end with the first one. */
const withDisk = (megabytes: number, script: string): string[] => [
  '-rmpf',
  '--kill-child',
  '--mount-proc',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${megabytes}m tmpfs '${disk}' && ${script}`,
];

/** Runs a script with such a disk; resolves with its output. */
async function onDisk(megabytes: number, script: string): Promise<string> {
  // Without the test runner's variable, because it would make each program one of its tests.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const running = promisify(execFile)('unshare', withDisk(megabytes, script), { env });
  try {
    return (await within('the script to end', running, programLimitMs)).stdout;
  } finally {
    running.child.kill('SIGKILL');
  }
}

before(async () => {
  mkdirSync(disk);
  await writePgm(source, drawPicture(2800, 2100));
});

const plain = new Map<string, string>();

/** The output of an undisturbed run with maps of a format. */
async function plainOutput(map: string, input = source): Promise<string> {
  const out = plain.get(map) ?? join(folder, `plain-${map}`);
  if (plain.has(map)) return out;
  await runUndisturbed([input, '--map', map, '--out', out]);
  plain.set(map, out);
  return out;
}

const canMount = (): boolean => {
  mkdirSync(disk, { recursive: true });
  return process.platform === 'linux' && spawnSync('unshare', withDisk(1, 'true')).status === 0;
};
const skip = canMount() ? false : 'this user may not mount a disk of its own';

test('a ledger on a disk that is full for a while: the coordinator says so, and its job waits and gives the same results', {
  skip,
}, async () => {
  const out = join(folder, 'full-ledger');
  const command = `exec ${program('full-ledger.ts')} '${disk}' '${source}' '${out}'`;
  const { said, waiting, state, codes } = JSON.parse(await onDisk(16, command));
  assert.match(said, /^The ledger cannot be written for [\d.]+ s: .*full/);
  assert.deepEqual([waiting, state, codes], ['JOB_STATE_RUNNING', 'JOB_STATE_COMPLETE', { n1: 0, coordinator: 0 }]);
  const plain = await plainOutput('tiff');
  assert.deepEqual(hashFiles(out, 'maps'), hashFiles(plain, 'maps'));
  assert.equal(readJson(out, 'job.json').digest, readJson(plain, 'job.json').digest);
});

interface Ended {
  code: number;
  said: string;
  /** A copy of the output. */
  kept: string;
}

/** Settings of a first run, slow enough to be disturbed half-way. */
const slow = Object.entries(slowFiles('picture'))
  .map(([name, value]) => `${name}='${value}'`)
  .join(' ');

/** Runs the same command on a disk, once or several times. Hooks run meanwhile, and before it runs again. */
async function runOnDisk(
  megabytes: number,
  map: string,
  { meanwhile = '', grace = '', again = [] as string[], input = source } = {},
) {
  const run = `run '${input}' --tile 256 --map ${map} --device cpu --out ${disk}/out`;
  const once = (i: number): string => `
    ${i === 0 && meanwhile ? slow : ''} ${program('../apps/cli/bin/halogrid.mjs')} ${run} ${i === 0 ? grace : ''} 2> ${folder}/said-${i} &
    echo $! > ${folder}/pid
    wait $!
    echo $? > ${folder}/code-${i}
    rm -rf ${folder}/kept-${i}
    cp -r ${disk}/out ${folder}/kept-${i}`;
  const script = `
    ${meanwhile && `(${meanwhile}) 2>/dev/null &`}
    ${once(0)}
    ${again.map((act, i) => `${act}\n${once(i + 1)}`).join('\n')}`;
  await onDisk(megabytes, `{ ${script}\n}`);
  return [0, ...again.keys().map((i) => i + 1)].map((i): Ended => {
    const [code, said] = ['code', 'said'].map((name) => readFileSync(join(folder, `${name}-${i}`), 'utf8').trim());
    return { code: Number(code), said: said!, kept: join(folder, `kept-${i}`) };
  });
}

/**
 * Fills the disk once the ledger says that some shards are done. By then nodes may have written pieces of many more.
 * All other processes are stopped meanwhile.
 */
const fill = `${program('until-results.ts')} '${disk}/out' &&
  kill -STOP -1 && cat /dev/zero > ${disk}/filler; kill -CONT -1`;
const until = (command: string): string => `until ${command}; do sleep 0.05; done`;
const waits = until(`grep -q 'aiting: It waits for room' ${folder}/said-0`);
/** Waits until there is no coordinator and no node, whose command line also contains the word. */
const allEnded = until("! grep -qa '[c]oordinator' /proc/[0-9]*/cmdline");
const makeRoom = `rm ${disk}/filler`;

async function checkSame({ code, said, kept }: Ended, map: string, input = source): Promise<void> {
  assert.equal(code, 0, said);
  const plain = await plainOutput(map, input);
  assert.deepEqual(hashFiles(kept, 'maps'), hashFiles(plain, 'maps'));
  assert.deepEqual(hashFiles(kept, 'preview'), hashFiles(plain, 'preview'));
  for (const table of ['features.parquet', 'histogram.json', 'sources.jsonl']) {
    assert.deepEqual(readFileSync(join(kept, table)), readFileSync(join(plain, table)), table);
  }
  assert.equal(readJson(kept, 'job.json').digest, readJson(plain, 'job.json').digest);
  assert.ok(!readdirSync(kept).includes('.halogrid'));
}

/** A run in whose output nodes write the chunks of a map, and parts with the results of frames. */
test('a Zarr map, and frames: a run whose disk is full for a while waits for room, says so, and gives the same results, each once', {
  skip,
}, async () => {
  const input = join(folder, 'pictures');
  mkdirSync(input);
  await writePgm(join(input, 'picture.pgm'), drawPicture(1400, 1050));
  for (let i = 0; i < 40; i++) await writePgm(join(input, `${100 + i}.pgm`), drawPicture(64, 48, i));
  const [ended] = await runOnDisk(64, 'zarr', { meanwhile: `${fill}; ${waits}; ${makeRoom}`, input });
  await checkSame(ended!, 'zarr', input);
  assert.match(ended!.said, new RegExp(`[Ww]aiting: It waits for room in '${disk}/out'`));
});

test('a disk that takes the pieces of a PNG, but not the PNG: the run fails after its waiting time, and the next one continues from there', {
  skip,
}, async () => {
  const [failed, whole] = await runOnDisk(16, 'png', {
    grace: '--space-grace 1s',
    again: [`mount -o remount,size=64m '${disk}'`],
  });
  assert.equal(failed!.code, 1, failed!.said);
  assert.match(
    failed!.said,
    new RegExp(`failed: There is no room in '${disk}/out' for \\d+ s \\(.* free\\): [^]*; make room there`),
  );
  const { state, canGoOn, counts } = readJson(failed!.kept, 'job.json');
  assert.deepEqual([state, canGoOn, readdirSync(failed!.kept).sort()], ['failed', true, ['.halogrid', 'job.json']]);
  await checkSame(whole!, 'png');
  const after = readJson(whole!.kept, 'job.json').counts;
  assert.deepEqual([counts.shardsDone, after.attempts], [counts.shards, counts.attempts], 'no shard is computed again');
});

// That a run with --space-grace 0 fails at once and says what helps is for sights.test.ts of the coordinator.
test('a run that is killed while it waits for room: the next one computes only what is missing', {
  skip,
}, async () => {
  const [, whole] = await runOnDisk(64, 'tiff', {
    meanwhile: `${fill}; ${waits}; kill -9 $(cat ${folder}/pid)`,
    again: [`${allEnded}\n${makeRoom}`],
  });
  await checkSame(whole!, 'tiff');
  const [, done, of] = matched(whole!.said, /continues: (\d+) of (\d+) shards/);
  assert.ok(Number(done) > 0 && Number(done) < Number(of), whole!.said);
});

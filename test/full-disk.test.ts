import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { drawPicture, writePgm } from './picture-files.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';

// A disk that fills up while a job runs: its output is whole, or nothing is left but the sentence that says why.

const folder = scratchFolder();
const disk = join(folder, 'disk');
const source = join(folder, 'picture.pgm');
const launcher = fileURLToPath(new URL('../apps/cli/bin/halogrid.mjs', import.meta.url));

/** A disk of the user alone, that nobody else sees, which needs no root; and processes that end with the first, whatever happens. */
const withDisk = (megabytes: number, script: string): string[] => [
  '-rmpf',
  '--kill-child',
  '--mount-proc',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${megabytes}m tmpfs '${disk}' && ${script}`,
];

before(async () => {
  mkdirSync(disk);
  await writePgm(source, drawPicture(2800, 2100));
});

const plain = new Map<string, string>();

/** The output of a run that nothing disturbs, with maps of a type. */
async function plainOutput(map: string): Promise<string> {
  const out = plain.get(map) ?? join(folder, `plain-${map}`);
  if (plain.has(map)) return out;
  await runUndisturbed([source, '--map', map, '--out', out]);
  plain.set(map, out);
  return out;
}

const canMount = (): boolean => {
  mkdirSync(disk, { recursive: true });
  return process.platform === 'linux' && spawnSync('unshare', withDisk(1, 'true')).status === 0;
};
const skip = canMount() ? false : 'this user may not mount a disk of its own';

test('a ledger on a disk that is full for a while: the coordinator says so, and its job waits and is the same', {
  skip,
}, async () => {
  const program = fileURLToPath(new URL('full-ledger.ts', import.meta.url));
  const out = join(folder, 'full-ledger');
  const command = `exec '${process.execPath}' '${program}' '${disk}' '${source}' '${out}'`;
  // What the runner of these tests has set would make the program one of its tests.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)('unshare', withDisk(16, command), { env, timeout: 240_000 });
  const { said, waiting, state, codes } = JSON.parse(stdout);
  assert.match(said, /^The ledger cannot be written for [\d.]+ s: .*full/);
  assert.deepEqual([waiting, state, codes], ['JOB_STATE_RUNNING', 'JOB_STATE_COMPLETE', { n1: 0, coordinator: 0 }]);
  const plain = await plainOutput('tiff');
  assert.deepEqual(hashFiles(out, 'maps'), hashFiles(plain, 'maps'));
  assert.equal(readJson(out, 'job.json').digest, readJson(plain, 'job.json').digest);
});

async function runOnDisk(megabytes: number, map: string, meanwhile = 'true') {
  const run = `run '${source}' --tile 128 --map ${map} --device cpu --out ${disk}/out`;
  const script = `
    (${meanwhile}) 2>/dev/null &
    '${process.execPath}' '${launcher}' ${run} 2> ${folder}/said
    echo $? > ${folder}/code
    kill $! 2>/dev/null
    rm -rf ${folder}/kept
    cp -r ${disk}/out ${folder}/kept`;
  await promisify(execFile)('unshare', withDisk(megabytes, `{ ${script}\n}`), { timeout: 240_000 });
  const [code, said] = ['code', 'said'].map((name) => readFileSync(join(folder, name), 'utf8').trim());
  return { code: Number(code), said: said!, kept: join(folder, 'kept') };
}

function checkFailed({ code, said, kept }: Awaited<ReturnType<typeof runOnDisk>>): void {
  assert.equal(code, 1, said);
  assert.match(said.split('\n').at(-1)!, /^halogrid: Job \S+ failed: .*(ENOSPC|No space left)/i);
  assert.deepEqual(readdirSync(kept), ['job.json']);
  const { state, error } = readJson(kept, 'job.json');
  assert.equal(state, 'failed');
  assert.match(error, /ENOSPC|No space left/i);
}

test('a disk that takes the pieces of a PNG, but not the PNG', { skip }, async () => {
  const ended = await runOnDisk(16, 'png');
  checkFailed(ended);
  assert.match(ended.said, /failed: The output in '.*' could not be written: /);
});

for (const map of ['tiff', 'zarr']) {
  test(`${map}: a disk that is full for a while`, { skip }, async () => {
    // It is filled when the first of some thousand pieces are there. Where a node meets that first, the job fails; where the
    // ledger does, it waits for room.
    const fill = `while ! ls ${disk}/out/.halogrid/map/* >&2; do sleep 0.01; done; cat /dev/zero > ${disk}/filler`;
    const ended = await runOnDisk(32, map, `${fill}; sleep 2; rm ${disk}/filler`);
    if (ended.code !== 0) return checkFailed(ended);
    const plain = await plainOutput(map);
    assert.deepEqual(hashFiles(ended.kept, 'maps'), hashFiles(plain, 'maps'));
    assert.equal(readJson(ended.kept, 'job.json').digest, readJson(plain, 'job.json').digest);
  });
}

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { eventually, timeoutMs } from '@halogrid/testing';
import { Halogrid } from '../halogrid.ts';
import { readMetrics } from '../read-metrics.ts';
import { readErrors, readHistogram, readJson } from '../results.ts';
import { FaultCluster, type StartedJob, skip, slowly } from './fault-cluster.ts';
import { cut, writeWork } from './work.ts';

// Users disturb a running job, or its files change.

let faults: FaultCluster;

before(async () => {
  // A job waits for a missing output as long as for a node.
  const options = ['--node-grace', String(timeoutMs(1_000))];
  if (!skip) faults = await FaultCluster.start(['a', 'b'], timeoutMs(2_500), undefined, options);
});
beforeEach(() => faults?.restore('a', 'b'));
after(() => faults?.stop());

const jobTest = (sentence: string, act: () => Promise<void>) => test(sentence, { skip }, act);

jobTest('a job is cancelled while its shards run: the nodes learn of it at once and drop the shards', async () => {
  const names = ['a', 'b'];
  // Answers are slowed down, so that the nodes still hold their shards when the job is cancelled.
  for (const name of names) faults.node(name).proxy.set({ up: { bytesPerSecond: 20_000 } });
  const job = await faults.submit();
  const held = async (name: string): Promise<number> => (await faults.cluster.node(name))!.leases;
  await eventually('leases of both nodes', async () => (await held('a')) > 10 && (await held('b')) > 10);
  await faults.cluster.jobs.cancel(job.jobId);
  await eventually('the nodes to have dropped their shards', async () => {
    const nodes = await Promise.all(names.map((name) => readMetrics(faults.node(name).http)));
    return nodes.every((metrics) => metrics.get('halogrid_node_leases') === 0);
  });
  assert.equal(String((await faults.cluster.job(job.jobId)).state), 'JOB_STATE_CANCELLED');
  await eventually('the output to be cleared', () => readdirSync(job.out).join() === 'job.json');
  assert.equal(readJson(job.out, 'job.json').state, 'cancelled');
});

jobTest('a watcher of a job may leave: the job goes on, and later callers learn its end', async () => {
  for (const name of ['a', 'b']) faults.node(name).proxy.set(slowly);
  const job = await faults.submit();
  const watch = ['watch', job.jobId, '--json', '--coordinator', faults.cluster.address];
  const gone = new Halogrid(watch);
  await faults.shardsDone(job, 10);
  gone.kill();
  await gone.ended;
  const next = await new Halogrid(watch).ended;
  assert.equal(next.code, 0, next.stderr);
  assert.equal(JSON.parse(next.stdout).digest, faults.undisturbed.digest);
  await faults.completesUndisturbed(job);
});

jobTest('images that are broken or claim to be huge are set aside, and the nodes go on', async () => {
  const folder = join(faults.work.folder, '..', 'bad');
  mkdirSync(folder, { recursive: true });
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const header = Buffer.alloc(17);
  // 60,000 x 60,000 pixels of gray in a file of 45 bytes.
  header.writeUInt32BE(60_000, 0);
  header.writeUInt32BE(60_000, 4);
  header[8] = 8;
  const bad: Record<string, Uint8Array> = {
    'bomb.png': Buffer.concat([png, header]),
    'cut.pgm': Buffer.from('P5\n30 20\n255\nhalf'),
    'empty.jpg': Buffer.alloc(0),
    'noise.png': Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 89) & 255)),
    'text.tif': Buffer.from('II*\0 this is not a directory of tags'),
  };
  for (const [name, bytes] of Object.entries(bad)) writeFileSync(join(folder, name), bytes);
  const pids = faults.cluster.nodes.map(({ program }) => program.pidsOf('node'));
  const job = await faults.submit([faults.work.folder, folder]);
  const { state, error } = await faults.ended(job);
  assert.equal(state, 'JOB_STATE_COMPLETE', error);
  assert.deepEqual(readHistogram(job.out), faults.work.expected);
  const names = readErrors(job.out).map(({ uri }) => basename(uri));
  assert.deepEqual(names.sort(), Object.keys(bad).sort());
  assert.deepEqual(
    faults.cluster.nodes.map(({ program }) => program.pidsOf('node')),
    pids,
  );
});

jobTest(
  'an image that is overwritten while its tiles are computed is set aside: no result mixes two images',
  async () => {
    const folder = join(faults.work.folder, '..', 'changing');
    const { folder: other } = await writeWork(folder);
    for (const name of ['a', 'b']) faults.node(name).proxy.set(slowly);
    const job = await faults.submit([other]);
    await faults.shardsDone(job, 20);
    // Other pixels of the same size.
    const path = join(folder, 'image.tif');
    const bytes = readFileSync(path);
    writeFileSync(
      path,
      bytes.map((byte, i) => (i > 100 && i < 200 ? byte ^ 1 : byte)),
    );
    const { state, error } = await faults.ended(job);
    assert.equal(state, 'JOB_STATE_COMPLETE', error);
    const [line, ...others] = readErrors(job.out);
    assert.deepEqual(others, []);
    assert.equal(basename(line!.uri), 'image.tif');
    assert.match(line!.error, /^The file is not what it was when the job was planned/);
    assert.equal(readJson(job.out, 'job.json').counts.quarantined, 1);
    // 24 frames of 32 x 24 pixels, without their border.
    assert.equal(readHistogram(job.out).counted, 24 * 30 * 22);
  },
);

jobTest(
  'a chunk of a map is cut off by something else: the job fails and says so, and no output is made of it',
  async () => {
    for (const name of ['a', 'b']) faults.node(name).proxy.set(slowly);
    const job = await faults.submit();
    await faults.shardsDone(job, 20);
    const chunks = globSync(`${job.out}/.halogrid/map/**/*.u8`);
    const [first] = chunks.sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs);
    truncateSync(first!, 7);
    const { state, error } = await faults.ended(job);
    assert.equal(state, 'JOB_STATE_FAILED');
    assert.match(error, /^The output in '.*' could not be written: The map chunk '.*' holds 7 bytes instead of \d+$/);
    await eventually('the output to be cleared', () => readdirSync(job.out).every((name) => name === 'job.json'));
  },
);

for (const [what, gone, map] of [
  ['the scratch folder', '.halogrid', undefined],
  ['the output folder', '.', 'tiff'],
] as const) {
  jobTest(`${what} of a job ${map ? 'with' : 'without'} maps is removed: the job fails and says so`, async () => {
    for (const name of ['a', 'b']) faults.node(name).proxy.set(slowly);
    const { map: _, ...unmapped } = cut;
    const out = join(faults.work.folder, '..', `vanishing-${map}`);
    const before = await readMetrics(faults.cluster.http);
    const sources = [faults.work.folder];
    const jobId = await faults.cluster.jobs.submit({ ...unmapped, ...(map && { map }), sources, out });
    const job = { jobId, out, before };
    await faults.shardsDone(job, 20);
    renameSync(join(out, gone), `${out}-away`);
    const { state, error } = await faults.ended(job);
    assert.equal(state, 'JOB_STATE_FAILED');
    // The missing log may be noticed first.
    assert.match(error, / (could not|cannot) be written: .*(ENOENT|is missing)|^The log '.*' was deleted or replaced /);
    await eventually('the output to be cleared', () => !existsSync(out) || readdirSync(out).join() === 'job.json');
  });
}

const onSmallDisk = (sentence: string, act: (disk: string) => Promise<void>) =>
  test(sentence, { skip: skip || cannotMount() }, async () => {
    const disk = join(faults.work.folder, '..', `disk-${sentence.length}`);
    mkdirSync(disk);
    mount(disk, '256k');
    try {
      await act(disk);
    } finally {
      spawnSync('umount', ['-l', disk]);
      rmSync(disk, { recursive: true, force: true });
    }
  });

/** Submits the work with its output on that disk. */
async function submitTo(disk: string): Promise<StartedJob> {
  const out = join(disk, 'out');
  const before = await readMetrics(faults.cluster.http);
  return { jobId: await faults.cluster.jobs.submit({ ...cut, sources: [faults.work.folder], out }), out, before };
}

const enlarge = (disk: string): void => void spawnSync('mount', ['-o', 'remount,size=64m', disk]);

onSmallDisk(
  'a job whose disk is full waits for room and says so, even if a coordinator is killed; others go on',
  async (disk) => {
    const elsewhere = join(disk, '..', 'elsewhere');
    mkdirSync(elsewhere, { recursive: true });
    const blind = await faults.join('blind', {
      options: ['--data-root', elsewhere, '--data-root', faults.work.folder],
    });
    const said = new Set<string>();
    const waits = async (jobId: string) => {
      const { state, waiting, error } = await faults.cluster.job(jobId);
      said.add(`${waiting} ${error}`);
      assert.equal(state, 'JOB_STATE_RUNNING', error);
      return waiting.startsWith(`It waits for room in '${disk}/out'`);
    };
    const job = await submitTo(disk);
    await eventually('the job to wait', () => waits(job.jobId));
    const { state, error } = await faults.ended(await faults.submit());
    assert.equal(state, 'JOB_STATE_COMPLETE', error);
    assert.equal((await readMetrics(faults.cluster.http)).get('halogrid_jobs_blocked'), 1);
    assert.match((await faults.cluster.halogrid(['status', job.jobId])).stdout, /^waits +It waits for room in /m);

    // The node that does not see the disk comes last, because the job would wait for a node if it were alone.
    blind.proxy.refuse();
    faults.cluster.coordinator.kill();
    await faults.cluster.startCoordinatorAgain();
    await eventually('both nodes that see the disk', async () => {
      const nodes = await Promise.all(['a', 'b'].map((name) => faults.cluster.node(name)));
      return nodes.every(Boolean);
    });
    await eventually('the job to wait again', () => waits(job.jobId));
    blind.proxy.accept();
    await eventually('the other node', () => faults.cluster.node('blind'));
    await waits(job.jobId);
    enlarge(disk);
    await faults.resumesUndisturbed(job);
    assert.ok(![...said].some((words) => words.includes('data roots')), [...said].join('\n'));
  },
);

function mount(folder: string, size: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'halogrid-test', folder]).status === 0;
}

/** Why this process may not mount a small disk; false if it may. */
function cannotMount(): string | false {
  const folder = '/tmp';
  const trial = join(folder, `halogrid-mount-${process.pid}`);
  mkdirSync(trial);
  const can = existsSync(trial) && mount(trial, '64k');
  if (can) spawnSync('umount', [trial]);
  rmSync(trial, { recursive: true, force: true });
  return can ? false : 'only root may mount a small disk';
}

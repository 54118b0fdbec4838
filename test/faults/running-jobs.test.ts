import assert from 'node:assert/strict';
import {
  cpSync,
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
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { eventually, standStill, timeoutMs } from '@halogrid/testing';
import { get } from '../get.ts';
import { connectJobs } from '../jobs-client.ts';
import { readMetrics } from '../read-metrics.ts';
import { readErrors, readHistogram, readJson } from '../results.ts';
import { seeded } from '../seeded.ts';
import { acceptedSeries, FaultCluster, type StartedJob, silenced, skip, slowly, unleased } from './fault-cluster.ts';
import { cannotMount, enlarge, onSmallDisk } from './small-disk.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { cut } from './work.ts';

// Users disturb a running job, its files change, or processes of its nodes or its coordinator end or stop. One cluster
// for all cases, because to start one costs as much processor time as five jobs.

/** Silence that makes a node count as lost. */
const nodeTimeoutMs = timeoutMs(4_000);

/** How many kills. Each takes six seconds, because a start waits for the end of the earlier lease. */
const runs = Number(process.env.HALOGRID_FAULT_RUNS ?? 1);
const seed = Number(process.env.HALOGRID_FAULT_SEED ?? 1);

let faults: FaultCluster;
/** Names of two attached nodes; those that a test left are used by the next. */
let [one, other] = ['', ''];

before(async () => {
  // A job waits for a missing output as long as for a node.
  const options = ['--node-grace', String(timeoutMs(1_000))];
  if (!skip) faults = await FaultCluster.start(['a', 'b'], nodeTimeoutMs, undefined, options);
});
beforeEach(async () => {
  if (!skip) [one, other] = await faults.haveTwo();
});
after(() => faults?.stop());

const jobTest = (sentence: string, act: (t: TestContext) => Promise<void>) => test(sentence, { skip }, act);

const leases = async (name: string): Promise<number> => (await faults.cluster.node(name))?.leases ?? 0;

const leased = (name: string) => eventually(`leases of ${name}`, async () => (await leases(name)) > 0);

/** Submits the work, or other sources, whose leases reach the nodes slowly. */
function submitSlowly(sources?: string[]): Promise<StartedJob> {
  for (const name of [one, other]) faults.node(name).proxy.set(slowly);
  return faults.submit(sources);
}

const isCleared = ({ out }: Pick<StartedJob, 'out'>) =>
  eventually('the output to be cleared', () => !existsSync(out) || readdirSync(out).join() === 'job.json');

const beside = (name: string): string => join(faults.work.folder, '..', name);

jobTest('a job is cancelled while its shards run: the nodes learn of it at once and drop the shards', async () => {
  const job = await submitSlowly();
  await Promise.all([leased(one), leased(other)]);
  await faults.cluster.jobs.cancel(job.jobId);
  await eventually('the nodes to have dropped their shards', async () => {
    const nodes = await Promise.all([one, other].map((name) => readMetrics(faults.node(name).http)));
    return nodes.every((metrics) => metrics.get('halogrid_node_leases') === 0);
  });
  assert.equal(String((await faults.cluster.job(job.jobId)).state), 'JOB_STATE_CANCELLED');
  await isCleared(job);
  assert.equal(readJson(job.out, 'job.json').state, 'cancelled');
});

jobTest('a watcher of a job may leave: the job goes on, and later callers learn its end', async () => {
  const job = await submitSlowly();
  const proxy = await TcpProxy.start(faults.cluster.address);
  const watcher = connectJobs(proxy.address);
  const watching = assert.rejects(watcher.untilEnded(job.jobId));
  await faults.shardsDone(job, 10);
  await eventually('the watcher to watch', () => proxy.connections > 0);
  await proxy.close();
  await watching;
  watcher.close();
  const { code, stdout, stderr } = await faults.cluster.halogrid(['watch', job.jobId, '--json']);
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).digest, faults.undisturbed.digest);
  await faults.completesUndisturbed(job);
});

/** Files that are no images, or claim to be huge. */
function badImages(): Record<string, Uint8Array> {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const header = Buffer.alloc(17);
  // 60,000 x 60,000 pixels of gray in a file of 45 bytes.
  header.writeUInt32BE(60_000, 0);
  header.writeUInt32BE(60_000, 4);
  header[8] = 8;
  return {
    'bomb.png': Buffer.concat([png, header]),
    'cut.pgm': Buffer.from('P5\n30 20\n255\nhalf'),
    'empty.jpg': Buffer.alloc(0),
    'noise.png': Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 89) & 255)),
    'text.tif': Buffer.from('II*\0 this is not a directory of tags'),
  };
}

jobTest(
  'images that are broken, claim to be huge, or are overwritten while their tiles are computed are set aside: no result mixes two images, and the nodes go on',
  async () => {
    const folder = beside('changing');
    cpSync(faults.work.folder, folder, { recursive: true });
    const bad = badImages();
    const badFolder = beside('bad');
    mkdirSync(badFolder);
    for (const [name, bytes] of Object.entries(bad)) writeFileSync(join(badFolder, name), bytes);
    const pids = faults.cluster.nodes.map(({ program }) => program.pidsOf('node'));
    const job = await submitSlowly([folder, badFolder]);
    await faults.shardsDone(job, 10);
    // Other pixels of the same size.
    const path = join(folder, 'image.tif');
    const bytes = readFileSync(path);
    writeFileSync(
      path,
      bytes.map((byte, i) => (i > 100 && i < 200 ? byte ^ 1 : byte)),
    );
    const { state, error } = await faults.ended(job);
    assert.equal(state, 'JOB_STATE_COMPLETE', error);
    const errors = new Map(readErrors(job.out).map(({ uri, error }) => [basename(uri), error]));
    assert.deepEqual([...errors.keys()].sort(), [...Object.keys(bad), 'image.tif'].sort());
    assert.match(errors.get('image.tif')!, /^The file is not what it was when the job was planned/);
    assert.equal(readJson(job.out, 'job.json').counts.quarantined, errors.size);
    assert.deepEqual(readHistogram(job.out), faults.work.ofFrames);
    assert.deepEqual(
      faults.cluster.nodes.map(({ program }) => program.pidsOf('node')),
      pids,
    );
  },
);

jobTest(
  'a chunk of a map is cut off by something else: the job fails and says so, and no output is made of it',
  async () => {
    const job = await submitSlowly();
    await faults.shardsDone(job, 10);
    const chunks = globSync(`${job.out}/.halogrid/map/**/*.u8`);
    const [first] = chunks.sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs);
    truncateSync(first!, 7);
    const { state, error } = await faults.ended(job);
    assert.equal(state, 'JOB_STATE_FAILED');
    assert.match(error, /^The output in '.*' could not be written: The map chunk '.*' holds 7 bytes instead of \d+$/);
    await isCleared(job);
  },
);

jobTest(
  'the scratch folder of a job without maps, and the output folder of a job with maps, are removed: they fail and say so',
  async () => {
    for (const name of [one, other]) faults.node(name).proxy.set(slowly);
    const vanish = async (gone: string, map: 'none' | 'tiff'): Promise<void> => {
      const out = beside(`vanishing-${map}`);
      const before = await readMetrics(faults.cluster.http);
      const jobId = await faults.cluster.jobs.submit({ ...cut, map, sources: [faults.work.folder], out });
      const job = { jobId, out, before };
      await faults.shardsDone(job, 10);
      renameSync(join(out, gone), `${out}-away`);
      const { state, error } = await faults.ended(job);
      assert.equal(state, 'JOB_STATE_FAILED');
      // The missing log may be noticed first.
      assert.match(
        error,
        / (could not|cannot) be written: .*(ENOENT|is missing)|^The log '.*' was deleted or replaced /,
      );
      await isCleared(job);
    };
    await Promise.all([vanish('.halogrid', 'none'), vanish('.', 'tiff')]);
  },
);

/** The complete parts in that folder. */
const whole = (parts: string): string[] => globSync('*', { cwd: parts }).filter((part) => !part.endsWith('.tmp'));

const chunks = ({ out }: StartedJob): number => globSync(`${out}/.halogrid/map/**/*.u8`).length;

/** Submits the work, and stops the first node while it has leases, whose answers do not get through. */
async function submitAndStop(): Promise<{ job: StartedJob; goOn: () => void }> {
  // The other node gets no lease before, or the job could be over.
  faults.node(other).proxy.set(unleased);
  faults.node(one).proxy.set(slowly);
  const job = await faults.submit();
  await leased(one);
  faults.node(one).proxy.set(silenced);
  const wake = standStill(faults.node(one).pid);
  const goOn = () => {
    wake();
    faults.node(one).proxy.set({});
  };
  return { job, goOn };
}

const isBack = () => eventually('the node to be back', () => faults.cluster.node(one));

jobTest(
  'SIGSTOP of a node beyond its deadline, and SIGCONT after its job is over, and then while others compute its shards',
  async () => {
    const first = await submitAndStop();
    faults.node(other).proxy.set({});
    await faults.completesUndisturbed(first.job);
    first.goOn();
    await isBack();

    // It takes part again.
    const second = await submitAndStop();
    await eventually('the node to be given up', async () => !(await faults.cluster.node(one)));
    faults.node(other).proxy.set(slowly);
    second.goOn();
    // It answers its old leases, which are ignored, and dials again.
    await faults.completesUndisturbed(second.job);
    await isBack();
  },
);

jobTest(
  'SIGKILL of a node that does not drain in time, and of the last after it has written chunks that the coordinator has not heard of: the job waits, and goes on with the first that joins',
  async () => {
    const job = await submitSlowly();
    await faults.shardsDone(job, 4);
    // The leases do not reach it, so it cannot finish them.
    faults.node(other).proxy.set(unleased);
    await leased(other);
    faults.node(other).program.signal('SIGTERM');
    await eventually('the coordinator to know', async () => (await faults.cluster.node(other))?.draining !== false);
    await faults.kill(other);

    const { proxy, http } = faults.node(one);
    proxy.set(unleased);
    await eventually('leases that are all on their way', async () => {
      return (await leases(one)) > 0 && (await readMetrics(http)).get('halogrid_node_leases') === 0;
    });
    const known = chunks(job);
    proxy.set(silenced);
    await eventually('chunks that the coordinator does not know of', () => chunks(job) > known);
    await faults.kill(one);
    await eventually('nobody to be attached', async () => !(await faults.cluster.node(one)));
    const { state, counts } = await faults.cluster.job(job.jobId);
    assert.equal(String(state), 'JOB_STATE_RUNNING');
    assert.ok((await get(`${faults.cluster.http}/readyz`)).ok);
    await faults.join('first');
    const { attempts, expired } = await faults.completesUndisturbed(job);
    const parts: { name: string; shards: number }[] = readJson(job.out, 'job.json').nodes;
    const shardsOfFirst = parts.find(({ name }) => name === 'first')!.shards;
    const left = faults.work.shards - counts!.shardsDone;
    assert.equal(shardsOfFirst, left, 'what was committed is not computed again');
    assert.ok(expired > 0);
    assert.equal(attempts, faults.work.shards + expired);
  },
);

jobTest('SIGTERM of a node: it finishes its shards even over a slow network, and wastes nothing', async () => {
  const job = await submitSlowly();
  await leased(one);
  // Its answers take longer than it waits for a coordinator that says nothing.
  const { program, proxy } = faults.node(one);
  proxy.set({ ...slowly, up: { bytesPerSecond: 1_000, sliceBytes: 100 } });
  program.signal('SIGTERM');
  const { code, stderr } = await program.ended;
  // Whether it still had a shard when the signal came is a race.
  assert.ok(code === 0 || code === 75, stderr);
  await faults.forget(one);
  const { attempts, expired } = await faults.completesUndisturbed(job);
  assert.deepEqual([attempts, expired], [faults.work.shards, 0]);
});

jobTest(
  `SIGSTOP of the coordinator for longer than nodes wait for a message, SIGKILL at ${runs} random moments of one job, and then while parts are gone`,
  async (t) => {
    const random = seeded(seed);
    // Leases are slowed down, so that the job outlasts all kills.
    const down = { bytesPerSecond: Math.max(800, 6_000 / runs) };
    const proxies = [one, other].map((name) => faults.node(name).proxy);
    for (const proxy of proxies) proxy.set({ down });
    const job = await faults.submit();
    const parts = join(job.out, '.halogrid', 'parts');
    await faults.shardsDone(job, 1);
    const [pid] = faults.cluster.coordinator.pidsOf('coordinator');
    const dialled = proxies.map(({ accepted }) => accepted);
    const goOn = standStill(pid!);
    try {
      await eventually('the nodes to dial again', () => proxies.every((proxy, i) => proxy.accepted > dialled[i]!));
    } finally {
      goOn();
    }
    const accepted = async () => (await readMetrics(faults.cluster.http)).get(acceptedSeries) ?? 0;
    let [held, durable, before] = [0, 0, job.before.get(acceptedSeries) ?? 0];
    for (let kills = 0; kills < runs; kills++) {
      // At most half of the shards are done before the last kill.
      await faults.shardsDone(job, durable + Math.floor((random() * faults.work.shards) / 2 / runs));
      held += (await leases(one)) + (await leases(other));
      durable += (await accepted()) - before;
      faults.cluster.coordinator.kill();
      await faults.cluster.startCoordinatorAgain();
      before = 0;
      const { shardsDone } = (await faults.cluster.job(job.jobId)).counts!;
      assert.ok(shardsDone >= durable, `${shardsDone} of ${durable} shards are still done`);
    }
    await eventually('parts of the job', () => whole(parts).length > 0);
    const { shardsDone, attempts } = (await faults.cluster.job(job.jobId)).counts!;
    // Leases that were answered between this look and the kill were replaced by others.
    const again = attempts - shardsDone;
    t.diagnostic(`seed ${seed}: ${runs} kills, ${held} leases held then, ${again} attempts more than shards done`);
    faults.cluster.coordinator.kill();
    await faults.cluster.coordinator.ended;
    for (const part of whole(parts)) rmSync(join(parts, part), { recursive: true });
    await faults.cluster.startCoordinatorAgain();
    for (const proxy of proxies) proxy.set({});
    const ended = await faults.resumesUndisturbed(job);
    assert.ok(ended.attempts > faults.work.shards);
  },
);

test('a job whose disk is full waits for room and says so, even if a coordinator is killed; others go on', {
  skip: skip || cannotMount(),
}, async () => {
  await onSmallDisk(beside('disk'), async (disk) => {
    const elsewhere = beside('elsewhere');
    mkdirSync(elsewhere);
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
    const out = join(disk, 'out');
    const before = await readMetrics(faults.cluster.http);
    const jobId = await faults.cluster.jobs.submit({ ...cut, sources: [faults.work.folder], out });
    await eventually('the job to wait', () => waits(jobId));
    const { state, error } = await faults.ended(await faults.submit());
    assert.equal(state, 'JOB_STATE_COMPLETE', error);
    assert.equal((await readMetrics(faults.cluster.http)).get('halogrid_jobs_blocked'), 1);
    assert.match((await faults.cluster.halogrid(['status', jobId])).stdout, /^waits +It waits for room in /m);

    // The node that does not see the disk comes last, because the job would wait for a node if it were alone.
    blind.proxy.refuse();
    faults.cluster.coordinator.kill();
    await faults.cluster.startCoordinatorAgain();
    await eventually('both nodes that see the disk', async () => {
      const nodes = await Promise.all([one, other].map((name) => faults.cluster.node(name)));
      return nodes.every(Boolean);
    });
    await eventually('the job to wait again', () => waits(jobId));
    blind.proxy.accept();
    await eventually('the other node', () => faults.cluster.node('blind'));
    await waits(jobId);
    enlarge(disk);
    await faults.resumesUndisturbed({ jobId, out, before });
    assert.ok(![...said].some((words) => words.includes('data roots')), [...said].join('\n'));
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { credentials, type ServiceError, status } from '@grpc/grpc-js';
import { openImage, writeChunk } from '@halogrid/imaging';
import { createPipeline, placeItem, planRead, runReference } from '@halogrid/kernels';
import {
  JobSpec,
  JobState,
  type JobStatus,
  JobsClient,
  type Lease,
  type NodeStatus,
  type SourceResult,
} from '@halogrid/proto';
import { createLog } from '@halogrid/service';
import { createCoordinatorConfig } from './config.ts';
import { type RunningCoordinator, startCoordinator } from './coordinator.ts';
import { ScriptedNode } from './services/scripted-node.ts';

interface Stage {
  coordinator: RunningCoordinator;
  jobs: JobsClient;
  folder: string;
}

/** A coordinator on free ports, a client of it, and a folder; all gone when the test ends. */
async function setStage(t: TestContext, nodeTimeoutMs = 10_000): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-coordinator-'));
  const config = createCoordinatorConfig({ listen: '127.0.0.1:0', http: '127.0.0.1:0', nodeTimeoutMs });
  const coordinator = await startCoordinator(config, createLog('test', 'silent'));
  const jobs = new JobsClient(`127.0.0.1:${coordinator.grpcPort}`, credentials.createInsecure());
  t.after(async () => {
    jobs.close();
    await coordinator.close();
    await rm(folder, { recursive: true, force: true });
  });
  return { coordinator, jobs, folder };
}

/** Writes gray images of 7 x 5 pixels and returns their URIs. */
async function writeImages(folder: string, count: number): Promise<string[]> {
  const uris: string[] = [];
  for (let i = 0; i < count; i++) {
    const pixels = Uint8Array.from({ length: 35 }, (_, p) => (p * p * (i + 3)) % 251);
    const path = join(folder, `image-${i}.pgm`);
    await writeFile(path, Buffer.concat([Buffer.from('P5\n7 5\n255\n'), pixels]));
    uris.push(pathToFileURL(path).href);
  }
  return uris;
}

function specOf(folder: string, sources: string[], more: Partial<JobSpec> = {}): JobSpec {
  const pipeline = { operations: [{ kernel: 'lbp', parameters: {} }], border: 'interior' };
  const out = pathToFileURL(join(folder, 'out')).href;
  return JobSpec.fromPartial({ sources, pipeline, out, mapFormat: 'none', batchFrames: 1, ...more });
}

const submit = (jobs: JobsClient, spec: JobSpec | undefined, nameOutByJob = false): Promise<JobStatus> =>
  new Promise((resolve, reject) => {
    jobs.submit({ spec, nameOutByJob }, (error, response) => (error ? reject(error) : resolve(response.job!)));
  });

const get = (jobs: JobsClient, jobId: string): Promise<JobStatus> =>
  new Promise((resolve, reject) => {
    jobs.get({ jobId }, (error, response) => (error ? reject(error) : resolve(response.job!)));
  });

const cancel = (jobs: JobsClient, jobId: string): Promise<JobStatus> =>
  new Promise((resolve, reject) => {
    jobs.cancel({ jobId }, (error, response) => (error ? reject(error) : resolve(response.job!)));
  });

/** Watches the job to its end; every message. */
async function watchToEnd(jobs: JobsClient, jobId: string): Promise<JobStatus[]> {
  const messages: JobStatus[] = [];
  const call = jobs.watch({ jobId });
  call.on('data', ({ job }) => messages.push(job));
  await once(call, 'end');
  return messages;
}

/** Computes the shard as a node does, with the CPU twin, and says so. */
async function complete(node: ScriptedNode, lease: Lease): Promise<void> {
  const pipeline = createPipeline(lease.pipeline!.operations, lease.pipeline!.border);
  assert.ok(lease.work);
  const sources = lease.work.$case === 'tile' ? [lease.work.value.source!] : lease.work.value.sources;
  const results: SourceResult[] = [];
  for (const source of sources) {
    const image = await openImage(source.uri);
    const size = { width: image.width, height: image.height };
    const rect = lease.work.$case === 'tile' ? lease.work.value.rect! : { x: 0, y: 0, ...size };
    const { item, end } = placeItem(planRead(rect, size, pipeline.halo, pipeline.border), 0);
    const bytes = new Uint8Array(end);
    await image.decode({ x: 0, y: 0, ...size }, bytes, item.offset, item.stride);
    await image.close();
    const { counted, bins, map, mapStride } = runReference(pipeline, bytes, item, true);
    const chunk = { scratch: lease.scratch, kind: 'preview', source: source.index, size, rect } as const;
    if (source.index < lease.previews) await writeChunk(chunk, map!, mapStride!);
    results.push({ source: source.index, ...size, rect, counted, bins: [...bins] });
  }
  const { jobId, shard, attempt, epoch } = lease;
  const answer = { jobId, shard, attempt, epoch, results, errors: [], stageSeconds: { decode: 0.25 }, inputBytes: 46 };
  node.say({ $case: 'completed', value: answer });
}

async function metricsOf({ coordinator }: Stage): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${coordinator.httpPort}/metrics`);
  return response.text();
}

/** The error that a call ends with. */
async function refusalOf(call: Promise<unknown>): Promise<{ code: number; details: string }> {
  try {
    await call;
  } catch (error) {
    const { code, details } = error as ServiceError;
    return { code, details };
  }
  throw new Error('Expected a refusal but the call succeeded');
}

test('a job runs from its submission to its output, and is watched to its end', async (t) => {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const submitted = await submit(jobs, specOf(folder, await writeImages(folder, 3), { tilePx: 4096 }));
  assert.deepEqual(submitted.spec?.pipeline?.operations[0]?.parameters, { convention: 'nw-cw-msb' });
  const watched = watchToEnd(jobs, submitted.jobId);

  const node = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'n', name: 'one' });
  for (let shards = 0; shards < 3; shards++) await complete(node, await node.next('lease'));

  const messages = await watched;
  const last = messages.at(-1)!;
  assert.equal(last.state, JobState.COMPLETE, last.error);
  assert.deepEqual(last.counts, {
    sources: 3,
    frames: 3,
    shards: 3,
    shardsDone: 3,
    attempts: 3,
    pixels: 105,
    quarantined: 0,
  });
  assert.match(last.digest, /^[0-9a-f]{64}$/);
  assert.equal(messages.filter(({ state }) => state === JobState.COMPLETE).length, 1);
  const [again] = await watchToEnd(jobs, last.jobId);
  assert.deepEqual(again, last);

  const histogram = JSON.parse(await readFile(join(folder, 'out', 'histogram.json'), 'utf8'));
  assert.equal(histogram.counted, 3 * 5 * 3);
  const jobJson = JSON.parse(await readFile(join(folder, 'out', 'job.json'), 'utf8'));
  assert.equal(jobJson.digest, last.digest);

  const metrics = await metricsOf(stage);
  for (const line of [
    'halogrid_jobs{state="complete"} 1',
    'halogrid_shards_finished_total{kernel="lbp",outcome="ok"} 3',
    'halogrid_shard_attempts_total{reason="first"} 3',
    'halogrid_input_pixels_total{kernel="lbp"} 105',
    'halogrid_input_frames_total{kernel="lbp"} 3',
    'halogrid_input_bytes_total 138',
    'halogrid_stage_seconds_total{stage="decode"} 0.75',
    'halogrid_nodes{state="attached"} 1',
    'halogrid_leases_bytes 0',
    'halogrid_shard_duration_seconds_count{kernel="lbp"} 3',
    'halogrid_shard_queue_duration_seconds_count 3',
  ]) {
    assert.ok(metrics.split('\n').includes(line), `expected '${line}' in\n${metrics}`);
  }

  const api = `http://127.0.0.1:${coordinator.httpPort}/api/v1`;
  const { jobs: listed } = (await (await fetch(`${api}/jobs`)).json()) as { jobs: JobStatus[] };
  assert.deepEqual(listed, [last]);
  const { nodes } = (await (await fetch(`${api}/nodes`)).json()) as { nodes: NodeStatus[] };
  assert.deepEqual([nodes[0]?.name, nodes[0]?.shardsDone, nodes[0]?.pixelsDone], ['one', 3, 105]);
  node.hangUp();
});

test('a shard whose node vanishes is computed by another, and the late answer counts for nothing', async (t) => {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const first = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'first' });
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 1)));
  const lost = await first.next('lease');
  first.hangUp();

  const second = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'second' });
  const lease = await second.next('lease');
  assert.deepEqual([lease.shard, lease.attempt], [lost.shard, 2]);
  await complete(second, lost);
  await second.next('acknowledge');
  await complete(second, lease);
  const last = (await watchToEnd(jobs, jobId)).at(-1)!;
  assert.equal(last.state, JobState.COMPLETE, last.error);
  assert.deepEqual([last.counts!.attempts, last.counts!.frames], [2, 1]);

  const metrics = await metricsOf(stage);
  assert.match(metrics, /^halogrid_shards_finished_total\{kernel="lbp",outcome="stale"\} 1$/m);
  assert.match(metrics, /^halogrid_lease_expirations_total 1$/m);
  assert.match(metrics, /^halogrid_nodes_lost_total 1$/m);
  assert.match(metrics, /^halogrid_shard_attempts_total\{reason="lost"\} 1$/m);
  second.hangUp();
});

test('an answer that cannot be right is tried again, and in the end its source is quarantined', async (t) => {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 1)));
  for (let attempt = 1; attempt <= 3; attempt++) {
    const { shard, epoch, attempt: received } = await node.next('lease');
    assert.equal(received, attempt);
    const value = { jobId, shard, attempt, epoch, results: [], errors: [], stageSeconds: {}, inputBytes: 0 };
    node.say({ $case: 'completed', value });
    await node.next('acknowledge');
  }
  const last = (await watchToEnd(jobs, jobId)).at(-1)!;
  assert.equal(last.state, JobState.COMPLETE, last.error);
  assert.equal(last.counts!.quarantined, 1);
  assert.match(await readFile(join(folder, 'out', 'errors.jsonl'), 'utf8'), /is not answered/);
  assert.match(await metricsOf(stage), /^halogrid_quarantined_total\{stage="compute"\} 1$/m);
  node.hangUp();
});

test('results that no node can write fail the job with the reason, and quarantine nothing', async (t) => {
  const { coordinator, jobs, folder } = await setStage(t);
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 1)));
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  for (let attempt = 1; attempt <= 3; attempt++) {
    const { shard, epoch } = await node.next('lease');
    node.say({ $case: 'failed', value: { jobId, shard, attempt, epoch, error: 'The disk is full', output: true } });
  }
  const last = (await watchToEnd(jobs, jobId)).at(-1)!;
  assert.deepEqual([last.state, last.error, last.counts!.quarantined], [JobState.FAILED, 'The disk is full', 0]);
  const job = JSON.parse(await readFile(join(folder, 'out/job.json'), 'utf8'));
  assert.deepEqual([job.state, job.error], ['failed', 'The disk is full']);
  node.hangUp();
});

test('a cancelled job is recalled, keeps a job.json alone, and ends for its watchers', async (t) => {
  const { coordinator, jobs, folder } = await setStage(t);
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 2)));
  await node.next('lease');
  await node.next('lease');
  const watched = watchToEnd(jobs, jobId);
  assert.equal((await cancel(jobs, jobId)).state, JobState.CANCELLED);
  assert.deepEqual(await node.next('recall'), { jobId, shards: [] });
  assert.equal((await watched).at(-1)!.state, JobState.CANCELLED);
  assert.deepEqual(await readdir(join(folder, 'out')), ['job.json']);
  assert.equal(JSON.parse(await readFile(join(folder, 'out', 'job.json'), 'utf8')).state, 'cancelled');
  assert.equal((await cancel(jobs, jobId)).state, JobState.CANCELLED);
  node.hangUp();
});

test('a job whose sources hold nothing to process still ends', async (t) => {
  const { jobs, folder } = await setStage(t);
  await writeFile(join(folder, 'broken.png'), 'no picture');
  const { jobId } = await submit(
    jobs,
    specOf(folder, [pathToFileURL(join(folder, 'broken.png')).href], { tilePx: 64 }),
  );
  const last = (await watchToEnd(jobs, jobId)).at(-1)!;
  assert.equal(last.state, JobState.COMPLETE, last.error);
  assert.deepEqual([last.counts!.shards, last.counts!.quarantined], [0, 1]);
});

test('a wrong specification is refused with a sentence and leaves no trace', async (t) => {
  const { jobs, folder } = await setStage(t);
  const sources = await writeImages(folder, 1);
  await mkdir(join(folder, 'empty'));
  const before = await readdir(folder);
  const pipeline = (kernel: string, border = 'interior') => ({ operations: [{ kernel, parameters: {} }], border });
  const [missing, glob, empty] = ['missing.png', '*.webp', 'empty'].map(
    (name) => pathToFileURL(join(folder, name)).href,
  );
  const table: [JobSpec | undefined, number, RegExp][] = [
    [undefined, status.INVALID_ARGUMENT, /Expected a specification/],
    [specOf(folder, []), status.INVALID_ARGUMENT, /at least one source/],
    [specOf(folder, ['s3://bucket/key']), status.INVALID_ARGUMENT, /a file: URI|file: URI.*'s3:\/\/bucket\/key'/],
    [specOf(folder, sources, { pipeline: pipeline('blur') }), status.INVALID_ARGUMENT, /lbp.*'blur'/],
    [specOf(folder, sources, { pipeline: pipeline('lbp', 'soft') }), status.INVALID_ARGUMENT, /replicate.*'soft'/],
    [specOf(folder, sources, { mapFormat: 'bmp' }), status.INVALID_ARGUMENT, /none, tiff, png.*map_format.*'bmp'/],
    [specOf(folder, sources, { out: 'out' }), status.INVALID_ARGUMENT, /for out but received 'out'/],
    [specOf(folder, sources, { tilePx: 40_000 }), status.INVALID_ARGUMENT, /32768 for tile_px.*'40000'/],
    [specOf(folder, sources, { batchFrames: 5000 }), status.INVALID_ARGUMENT, /4096 for batch_frames.*'5000'/],
    [specOf(folder, [...sources, missing]), status.NOT_FOUND, /'.*missing\.png' does not exist/],
    [specOf(folder, [...sources, glob]), status.NOT_FOUND, /No file matches '.*\*\.webp'/],
    [specOf(folder, [...sources, empty]), status.NOT_FOUND, /'.*empty' holds no images/],
    [specOf(folder, sources, { out: sources[0] }), status.FAILED_PRECONDITION, /image-0\.pgm/],
  ];
  for (const [spec, code, sentence] of table) {
    const refusal = await refusalOf(submit(jobs, spec));
    assert.equal(refusal.code, code, refusal.details);
    assert.match(refusal.details, sentence);
  }
  assert.deepEqual(await readdir(folder), before);
});

test('an output folder in use is refused', async (t) => {
  const { jobs, folder } = await setStage(t);
  const spec = specOf(folder, await writeImages(folder, 1));
  await submit(jobs, spec);
  const { code, details } = await refusalOf(submit(jobs, spec));
  assert.equal(code, status.FAILED_PRECONDITION);
  assert.match(details, /in use/);
});

test('an output folder is named by its job where that is asked for', async (t) => {
  const { jobs, folder } = await setStage(t);
  const given = specOf(folder, await writeImages(folder, 1));
  for (const out of [given.out, `${given.out}/`]) {
    const { jobId, spec } = await submit(jobs, { ...given, out }, true);
    assert.equal(spec?.out, `${given.out}/${jobId}`);
    const jobJson = JSON.parse(await readFile(join(folder, 'out', jobId, 'job.json'), 'utf8'));
    assert.deepEqual([jobJson.id, jobJson.state], [jobId, 'running']);
  }
});

test('an unknown job is NOT_FOUND for every call that names one', async (t) => {
  const { jobs } = await setStage(t);
  for (const call of [get(jobs, 'x'), cancel(jobs, 'x'), watchToEnd(jobs, 'x')]) {
    assert.deepEqual(await refusalOf(call), { code: status.NOT_FOUND, details: "There is no job 'x'" });
  }
});

test('a watcher hears of changes at most ten times a second', async (t) => {
  const { coordinator, jobs, folder } = await setStage(t);
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 40)));
  const startMs = performance.now();
  const watched = watchToEnd(jobs, jobId);
  for (let shards = 0; shards < 40; shards++) {
    await complete(node, await node.next('lease'));
    await delay(5);
  }
  const messages = await watched;
  const tenths = (performance.now() - startMs) / 100;
  assert.equal(messages.at(-1)!.state, JobState.COMPLETE);
  assert.ok(messages.length <= tenths + 2, `${messages.length} messages in ${tenths} tenths of a second`);
  node.hangUp();
});

test('closing ends every conversation and leaves the job unfinished', async (t) => {
  const { coordinator, jobs, folder } = await setStage(t);
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 2)));
  await node.next('lease');
  const watched = refusalOf(watchToEnd(jobs, jobId));
  await coordinator.close();
  assert.deepEqual(await node.over(), { code: status.UNAVAILABLE, details: 'The coordinator stops' });
  await watched;
  assert.equal(JSON.parse(await readFile(join(folder, 'out', 'job.json'), 'utf8')).state, 'running');
});

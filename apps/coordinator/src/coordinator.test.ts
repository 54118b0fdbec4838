import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { status } from '@grpc/grpc-js';
import {
  type JobSpec,
  JobState,
  type JobStatus,
  type ListRequest,
  type NodeStatus,
  type Operation,
  splitAnswer,
} from '@halogrid/proto';
import { createLog } from '@halogrid/service/log';
import { startCoordinator } from './coordinator.ts';
import { ScriptedNode } from './services/testing/scripted-node.ts';
import {
  answerOf,
  cancel,
  complete,
  get,
  list,
  metricsOf,
  readFeatures,
  refusalOf,
  setStage,
  specOf,
  submit,
  testConfig,
  watchToEnd,
  writeImages,
} from './testing/coordinator-stage.ts';

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);

test('a job runs from its submission to its output, and is watched to its end', async (t) => {
  const stage = await setStage(t, testConfig({}, true));
  const { coordinator, jobs, folder } = stage;
  const submitted = await submit(jobs, specOf(folder, await writeImages(folder, 3), { tilePx: 4096 }));
  const [{ kernel, parameters, border }] = submitted.spec!.pipeline!.operations as [Operation];
  assert.deepEqual([kernel, parameters.convention, border], ['lbp', 'nw-cw-msb', 'interior']);
  assert.deepEqual(submitted.spec!.grid, { rows: 1, columns: 1 });
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
    kept: undefined,
  });
  assert.match(last.digest, /^[0-9a-f]{64}$/);
  assert.equal(messages.filter(({ state }) => state === JobState.COMPLETE).length, 1);
  const [again] = await watchToEnd(jobs, last.jobId);
  assert.deepEqual(again, last);

  const histogram = JSON.parse(await readFile(join(folder, 'out', 'histogram.json'), 'utf8'));
  assert.equal(histogram.counted, 3 * 5 * 3);
  const jobJson = JSON.parse(await readFile(join(folder, 'out', 'job.json'), 'utf8'));
  assert.equal(jobJson.digest, last.digest);
  const { op: _, ...kept } = last.spec!;
  assert.deepEqual(jobJson.specification, JSON.parse(JSON.stringify(kept)));
  const features = await readFeatures(folder);
  assert.deepEqual(
    features.map(({ source }) => source),
    last.spec!.sources,
  );
  for (const { counted, histogram } of features) assert.deepEqual([counted, sum(histogram)], [15n, 15]);

  const metrics = await metricsOf(stage);
  for (const line of [
    'halogrid_jobs{state="complete"} 1',
    'halogrid_jobs_ended_total{state="complete"} 1',
    'halogrid_jobs_ended_total{state="failed"} 0',
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
  const told = { ...last, asked: [{ name: '', operations: ['lbp'] }] };
  assert.deepEqual(listed, JSON.parse(JSON.stringify([told])));
  const { nodes } = (await (await fetch(`${api}/nodes`)).json()) as { nodes: NodeStatus[] };
  assert.deepEqual([nodes[0]?.name, nodes[0]?.shardsDone, nodes[0]?.pixelsDone], ['one', 3, 105]);
  node.hangUp();
});

test('a grid gives each cell a histogram, the same however an image is cut, and the totals are the same as without a grid', async (t) => {
  const { coordinator, jobs, folder } = await setStage(t);
  const sources = await writeImages(folder, 2);
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  const answering = (async (): Promise<never> => {
    for (;;) await complete(node, await node.next('lease'));
  })();
  // It ends when the node hangs up.
  answering.catch(() => {});
  const outcome = async (name: string, more: Partial<JobSpec>) => {
    const at = join(folder, name);
    const { jobId } = await submit(jobs, specOf(at, sources, more));
    const { state, error, digest, counts, spec } = (await Promise.race([watchToEnd(jobs, jobId), answering])).at(-1)!;
    assert.equal(state, JobState.COMPLETE, error);
    const histogram = JSON.parse(await readFile(join(at, 'out', 'histogram.json'), 'utf8'));
    return { shards: counts!.shards, grid: spec!.grid, digest, histogram, features: await readFeatures(at) };
  };
  const grid = { rows: 3, columns: 8 };
  const { shards, ...whole } = await outcome('whole', { grid });
  assert.equal(shards, 2);
  assert.deepEqual(whole.grid, grid);
  // The cells hold 1, 2 and 2 of the rows 0 … 4; the first and the last row have no code. Eight columns over seven
  // pixels leave the first column empty; the pixels of the second and the last column have no code.
  assert.deepEqual(
    whole.features.slice(0, 24).map(({ cell_row, cell_col, counted }) => [cell_row, cell_col, Number(counted)]),
    [0, 2, 1].flatMap((height, row) => {
      return [0, 0, 1, 1, 1, 1, 1, 0].map((width, column) => [row, column, width * height]);
    }),
  );
  const cut = await outcome('cut', { grid, tilePx: 3 });
  assert.deepEqual(cut, { ...whole, shards: 2 * 6 });
  const plain = await outcome('plain', {});
  for (const key of ['counted', 'channels']) assert.deepEqual(plain.histogram[key], whole.histogram[key]);
  assert.deepEqual(whole.histogram.grid, grid);
  assert.equal(whole.histogram.digest, whole.digest);
  assert.notEqual(plain.digest, whole.digest);
  node.hangUp();
});

test('a job whose scratch folder is gone fails after a while, and leaves its job.json alone', async (t) => {
  const { jobs, folder } = await setStage(t, testConfig({ nodeGraceMs: 300 }));
  const out = join(folder, 'out');
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 1)));
  await rm(join(out, '.halogrid'), { recursive: true });
  const { state, error } = (await watchToEnd(jobs, jobId)).at(-1)!;
  assert.equal(state, JobState.FAILED);
  assert.match(error, new RegExp(`^The output in '${out}' cannot be written: [^\n]*ENOENT: [^\n]*$`));
  assert.deepEqual(await readdir(out), ['job.json']);
});

test('a shard whose node vanishes is computed by another one, and the late answer does not count', async (t) => {
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
    const value = {
      jobId,
      shard,
      attempt,
      epoch,
      results: [],
      errors: [],
      stageSeconds: {},
      busySeconds: {},
      inputBytes: 0,
    };
    node.say({ $case: 'completed', value });
    await node.next('acknowledge');
  }
  const last = (await watchToEnd(jobs, jobId)).at(-1)!;
  assert.equal(last.state, JobState.COMPLETE, last.error);
  assert.equal(last.counts!.quarantined, 1);
  assert.match(await readFile(join(folder, 'out', 'errors.jsonl'), 'utf8'), /The answer names no part/);
  assert.match(await metricsOf(stage), /^halogrid_quarantined_total\{stage="compute"\} 1$/m);
  node.hangUp();
});

test('a node that is gone between two parts of its answer has answered nothing', async (t) => {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const inTwoTiles = { grid: { rows: 2, columns: 2 }, tilePx: 5 };
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 1), inTwoTiles));
  const dying = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'dying', creditBytes: 1 });
  const reports = [...splitAnswer(await answerOf(await dying.next('lease')), 300)];
  assert.equal(reports.length, 4);
  for (const report of reports.slice(0, 3)) {
    dying.say(report);
    await dying.next('acknowledge');
  }
  dying.hangUp();

  const node = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'other' });
  const leases = [await node.next('lease'), await node.next('lease')];
  assert.deepEqual(leases.map(({ attempt }) => attempt).sort(), [1, 2]);
  // The parts of the first answer do not count for the second.
  for (const lease of leases) await complete(node, lease);
  const last = (await watchToEnd(jobs, jobId)).at(-1)!;
  assert.equal(last.state, JobState.COMPLETE, last.error);
  const features = await readFeatures(folder);
  assert.deepEqual(
    features.map(({ counted, histogram }) => [Number(counted), sum(histogram)]),
    // 7 x 5 pixels without their border, in cells that begin at 0 and 3 and at 0 and 2.
    [2, 3, 4, 6].map((pixels) => [pixels, pixels]),
  );
  const jobJson = JSON.parse(await readFile(join(folder, 'out', 'job.json'), 'utf8'));
  assert.deepEqual([jobJson.counts.shards, jobJson.counts.attempts], [2, 3]);
  node.hangUp();
});

for (const [reason, graces, expected] of [
  [
    'Permission denied',
    { nodeGraceMs: 300 },
    /^No attached node can write '.*': node 'scripted': Permission denied; mount/,
  ],
  ['The disk is full', { spaceGraceMs: 300 }, /^There is no room in '.*\/out': The disk is full; make room there/],
] as const)
  test(`results that no node can write fail the job with the reason, and quarantine nothing: ${reason}`, async (t) => {
    const { coordinator, jobs, folder } = await setStage(t, testConfig(graces));
    const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 1)));
    const node = await ScriptedNode.attach(coordinator.grpcPort);
    const { shard, attempt, epoch } = await node.next('lease');
    node.writeError = reason;
    node.say({
      $case: 'failed',
      value: { jobId, shard, attempt, epoch, error: reason, output: true, need: '' },
    });
    const last = (await watchToEnd(jobs, jobId)).at(-1)!;
    assert.deepEqual([last.state, last.counts!.quarantined], [JobState.FAILED, 0]);
    assert.match(last.error, expected);
    const job = JSON.parse(await readFile(join(folder, 'out/job.json'), 'utf8'));
    assert.deepEqual([job.state, job.error], ['failed', last.error]);
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
  const pipeline = (kernel: string, border = '') => ({ operations: [{ kernel, parameters: {}, border }] });
  const [missing, glob, empty] = ['missing.png', '*.webp', 'empty'].map(
    (name) => pathToFileURL(join(folder, name)).href,
  );
  const table: [JobSpec | undefined, number, RegExp][] = [
    [undefined, status.INVALID_ARGUMENT, /Expected a specification/],
    [specOf(folder, []), status.INVALID_ARGUMENT, /at least one source/],
    [specOf(folder, ['ftp://host/key']), status.INVALID_ARGUMENT, /URI of file:.*'ftp:\/\/host\/key'/],
    [specOf(folder, sources, { pipeline: pipeline('blur') }), status.INVALID_ARGUMENT, /lbp.*'blur'/],
    [specOf(folder, sources, { pipeline: pipeline('lbp', 'soft') }), status.INVALID_ARGUMENT, /replicate.*'soft'/],
    [specOf(folder, sources, { pipeline: { operations: [] } }), status.INVALID_ARGUMENT, /1 to 8 .*'0'/],
    [
      specOf(folder, sources, { grid: { rows: 512, columns: 513 } }),
      status.INVALID_ARGUMENT,
      /at most 262144 cells \(of 256 bins each\) for grid but received '512x513'/,
    ],
    [
      specOf(folder, sources, { mapFormat: 'bmp' }),
      status.INVALID_ARGUMENT,
      /none, tiff, tiff:deflate, zarr, zarr:zstd, png, dzi.*map_format.*'bmp'/,
    ],
    [
      specOf(folder, sources, { pipeline: pipeline('ldp'), mapFormat: 'png' }),
      status.INVALID_ARGUMENT,
      /tiff, zarr or none, because a PNG cannot hold 4 bands of u8, for map_format/,
    ],
    [specOf(folder, sources, { out: 'out' }), status.INVALID_ARGUMENT, /for out but received 'out'/],
    [specOf(folder, sources, { tilePx: 40_000 }), status.INVALID_ARGUMENT, /32768 for tile_px.*'40000'/],
    [specOf(folder, sources, { batchFrames: 5000 }), status.INVALID_ARGUMENT, /4096 for batch_frames.*'5000'/],
    [specOf(folder, sources, { priority: 101 }), status.INVALID_ARGUMENT, /-100 to 100 for priority.*'101'/],
    [specOf(folder, sources, { verifyPercent: 101 }), status.INVALID_ARGUMENT, /0 to 100 for verify_percent.*'101'/],
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

test('a job can be named by a beginning that only its id has, and a list has the jobs that it asks for', async (t) => {
  const { jobs, folder } = await setStage(t);
  const given = specOf(folder, await writeImages(folder, 1));
  const first = await submit(jobs, given, true);
  // Ids of two jobs may differ only in their last characters.
  const beginning = first.jobId.slice(0, -2);
  assert.equal((await get(jobs, beginning)).jobId, first.jobId);
  assert.equal((await cancel(jobs, beginning)).jobId, first.jobId);
  assert.equal((await watchToEnd(jobs, beginning)).at(-1)!.state, JobState.CANCELLED);
  const second = await submit(jobs, given, true);
  const { code, details } = await refusalOf(cancel(jobs, first.jobId.slice(0, 4)));
  assert.equal(code, status.INVALID_ARGUMENT);
  assert.ok(details.includes(first.jobId) && details.includes(second.jobId), details);

  const ids = async (request: Partial<ListRequest>) => {
    const { jobs: listed, leftOut } = await list(jobs, { states: [], ...request });
    return [listed.map(({ jobId }) => jobId), leftOut];
  };
  const both = [second.jobId, first.jobId];
  assert.deepEqual(await ids({}), [both, 0]);
  assert.deepEqual(await ids({ limit: 1 }), [[second.jobId], 1]);
  assert.deepEqual(await ids({ states: [JobState.CANCELLED] }), [[first.jobId], 0]);
  assert.deepEqual(await ids({ sinceMs: first.submittedMs }), [both, 0]);
  assert.deepEqual(await ids({ sinceMs: second.submittedMs + 60_000 }), [[], 0]);
  const many = Array.from({ length: 17 }, () => JobState.RUNNING);
  assert.equal((await refusalOf(list(jobs, { states: many }))).code, status.INVALID_ARGUMENT);
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

test('a coordinator that is asked to stop says so, and not that its nodes are lost', async () => {
  const log = createLog('test', 'silent');
  const said: string[] = [];
  for (const level of ['info', 'warn', 'error'] as const) {
    log[level] = (...given: unknown[]) =>
      void said.push(`${level}: ${given.findLast((one) => typeof one === 'string')}`);
  }
  const coordinator = await startCoordinator(testConfig(), log);
  const nodes = [
    await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'first' }),
    await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'second' }),
  ];
  said.length = 0;
  await coordinator.close();
  assert.deepEqual(said, ['info: The coordinator stops']);
  for (const node of nodes) node.hangUp();
});

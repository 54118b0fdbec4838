import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ChannelCredentials, type Client, credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { beside, within } from '@halogrid/testing';
import { Cluster, type ClusterNode } from './cluster.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readMetrics } from './read-metrics.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';

// The metrics, traces and health that a cluster gives its operators.

const folder = scratchFolder();
const source = join(folder, 'picture.pgm');
const out = join(folder, 'out');
const pixels = 300 * 200;
let cluster: Cluster;
let jobId: string;

before(async () => {
  await writePgm(source, drawPicture(300, 200));
  cluster = await Cluster.start({ nodes: 2 });
  ({ jobId } = await cluster.jobs.run({ sources: [source], out, tilePx: 50 }));
});
after(() => cluster.stop());

/** How many shards were leased a second time because they took long, as happens on a busy machine. */
const copiesIn = (metrics: ReadonlyMap<string, number>): number =>
  metrics.get('halogrid_shard_attempts_total{reason="straggler"}') ?? 0;

test("the coordinator's metrics count what was merged", async () => {
  const metrics = await readMetrics(cluster.http);
  const copies = copiesIn(metrics);
  const expected = {
    'halogrid_input_pixels_total{kernel="lbp"}': pixels,
    'halogrid_input_frames_total{kernel="lbp"}': 1,
    'halogrid_shards_finished_total{kernel="lbp",outcome="ok"}': 24,
    'halogrid_shards_finished_total{kernel="lbp",outcome="retry"}': 0,
    'halogrid_shard_attempts_total{reason="first"}': 24,
    'halogrid_shard_attempts_total{reason="lost"}': 0,
    'halogrid_shard_duration_seconds_count{kernel="lbp"}': 24,
    halogrid_shard_queue_duration_seconds_count: 24 + copies,
    halogrid_merge_duration_seconds_count: 24,
    'halogrid_jobs{state="complete"}': 1,
    'halogrid_jobs{state="running"}': 0,
    'halogrid_shards{state="queued"}': 0,
    'halogrid_nodes{state="attached"}': 2,
    halogrid_leases_bytes: 0,
  };
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((series) => [series, metrics.get(series)])), expected);
  assert.ok(metrics.get('halogrid_input_bytes_total')! >= pixels);
  const lastResultMs = 1000 * metrics.get('halogrid_last_result_timestamp_seconds')!;
  const { submitted, finished } = readJson(out, 'job.json');
  assert.ok(lastResultMs >= Date.parse(submitted) && lastResultMs <= Date.parse(finished) + 1, `${lastResultMs}`);
});

test("the nodes' metrics add up to the pixels of the job, and time every stage", async () => {
  const nodes = await Promise.all(cluster.nodes.map(({ http }) => readMetrics(http)));
  const sum = (series: string) => nodes.reduce((total, metrics) => total + (metrics.get(series) ?? 0), 0);
  const copies = copiesIn(await readMetrics(cluster.http));
  /** The slower copy of a shard is dropped at any stage. */
  const isOnceEach = (count: number) => count >= 24 && count <= 24 + copies;
  assert.ok(sum('halogrid_node_pixels_total{kernel="lbp"}') >= pixels);
  assert.ok(copies > 0 || sum('halogrid_node_pixels_total{kernel="lbp"}') === pixels);
  assert.ok(isOnceEach(sum('halogrid_node_shards_total{outcome="completed"}')));
  assert.equal(sum('halogrid_node_attached'), 2);
  assert.equal(sum('halogrid_node_leases'), 0);
  assert.ok(sum('halogrid_gpu_busy_seconds_total{device="cpu"}') > 0);
  assert.ok(sum('halogrid_node_input_bytes_total') >= pixels);
  assert.ok(sum('halogrid_gpu_memory_bytes{device="cpu"}') > 0);
  assert.ok(sum('halogrid_node_worker_seconds_total{stage="decode"}') > 0);
  for (const stage of ['decode', 'video', 'device']) {
    assert.ok(sum(`halogrid_node_workers{stage="${stage}"}`) >= 2, stage);
    for (const name of ['workers_busy', 'queue']) assert.equal(sum(`halogrid_node_${name}{stage="${stage}"}`), 0, name);
  }
  for (const stage of ['read', 'decode', 'device', 'encode', 'shard']) {
    assert.ok(sum(`halogrid_node_busy_seconds_total{stage="${stage}"}`) > 0, stage);
  }
  for (const stage of ['read', 'decode', 'upload', 'compute', 'readback', 'encode']) {
    assert.ok(isOnceEach(sum(`halogrid_stage_duration_seconds_count{stage="${stage}"}`)), stage);
  }
});

test('the seconds of all bottlenecks add up to the time of a node', async () => {
  const [{ http }] = cluster.nodes as [ClusterNode];
  const bound = async () => {
    const series = [...(await readMetrics(http))].filter(([name]) => name.startsWith('halogrid_node_binding_seconds'));
    return series.reduce((sum, [, seconds]) => sum + seconds, 0);
  };
  const told: number[] = [];
  const { ms } = await beside(
    async () => told.push(await bound(), await bound()),
    () => {},
  );
  const [before, after] = told as [number, number];
  assert.ok(after > before && after - before <= ms / 1000, `${before} ${after} ${ms}`);
});

test('buckets of durations have the last counted job as exemplar, if the format allows exemplars', async () => {
  const { otherData } = (await (await fetch(`${cluster.http}/api/v1/jobs/${jobId}/trace`)).json()) as {
    otherData: { trace: string };
  };
  const exemplar = `# {trace_id="${otherData.trace}",job_id="${jobId}"} `;
  for (const { http, histogram } of [
    { http: cluster.http, histogram: 'shard' },
    ...cluster.nodes.map((node) => ({ http: node.http, histogram: 'stage' })),
  ]) {
    const read = async (accept: string) => (await fetch(`${http}/metrics`, { headers: { accept } })).text();
    const buckets = (await read('application/openmetrics-text')).split('\n').filter((line) => line.includes(exemplar));
    assert.ok(
      buckets.some((line) => line.startsWith(`halogrid_${histogram}_duration_seconds_bucket{`)),
      http,
    );
    assert.ok(!(await read('text/plain')).includes('job_id'), http);
  }
});

test('a trace has every shard of the job once, on its node, within its time', async () => {
  const file = join(folder, 'trace.json');
  const { code, stdout } = await cluster.halogrid(['trace', jobId, '--to', file]);
  assert.deepEqual([code, stdout], [0, `${file}: 24 shards on 2 nodes; open it at https://ui.perfetto.dev\n`]);
  const { traceEvents, otherData } = readJson(folder, 'trace.json');
  const { finished } = readJson(out, 'job.json');
  const lastsUs = 1000 * (Date.parse(finished) - Date.parse(otherData.since));
  type Event = { ph: string; name: string; pid: number; ts: number; dur: number; args: { shard: number } };
  const shards = (traceEvents as Event[]).filter(({ ph, name }) => ph === 'X' && name === 'shard');
  assert.deepEqual(new Set(shards.map(({ args }) => args.shard)).size, 24);
  for (const event of traceEvents as Event[]) {
    // Writing ends after the job's end. Other events must end within it; its times are whole milliseconds.
    if (event.ph === 'X' && event.name !== 'writing')
      assert.ok(event.ts >= 0 && event.dur >= 0 && event.ts + event.dur <= lastsUs + 2_000, event.name);
  }
  for (const stage of ['read', 'decode', 'device', 'encode', 'merge']) {
    assert.equal((traceEvents as Event[]).filter(({ ph, name }) => ph === 'X' && name === stage).length, 24, stage);
  }
  assert.match(otherData.trace, /^[0-9a-f]{32}$/);
});

test('/healthz and /readyz of a coordinator and of a node', async () => {
  for (const http of [cluster.http, cluster.nodes[0]!.http]) {
    for (const path of ['/healthz', '/readyz']) {
      const response = await fetch(http + path);
      assert.deepEqual([response.status, await response.text()], [200, 'ok\n'], http + path);
    }
    assert.equal((await fetch(`${http}/nothing`)).status, 404);
  }
});

test('gRPC health answers SERVING for the server and for each service', async () => {
  const client = connect('grpc-health-check', 'proto/health/v1/health.proto', 'grpc.health.v1.Health') as Client & {
    check(request: object, callback: (error: Error | null, response: object) => void): void;
  };
  for (const service of ['', 'halogrid.v1.Jobs', 'halogrid.v1.Nodes']) {
    const response = await new Promise((resolve, reject) => {
      client.check({ service }, (error, answer) => (error ? reject(error) : resolve(answer)));
    });
    assert.deepEqual(response, { status: 'SERVING' }, service);
  }
  client.close();
});

test('gRPC reflection lists the services', async () => {
  const proto = 'build/proto/grpc/reflection/v1/reflection.proto';
  const client = connect('@grpc/reflection', proto, 'grpc.reflection.v1.ServerReflection') as Client & {
    serverReflectionInfo(): NodeJS.ReadWriteStream & { write(request: object): void };
  };
  const call = client.serverReflectionInfo();
  call.write({ listServices: '' });
  const [response] = await within('the services', once(call, 'data'));
  const names = response.listServicesResponse.service.map(({ name }: { name: string }) => name);
  for (const name of ['halogrid.v1.Jobs', 'halogrid.v1.Nodes']) assert.ok(names.includes(name), names.join());
  call.end();
  await once(call, 'end');
  client.close();
});

/** A client for a service of the coordinator, made from the .proto file in a package, as a foreign program would do. */
function connect(packageName: string, protoFile: string, service: string): Client {
  const packageFolder = dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`));
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the file that is loaded.
  let found: any = loadPackageDefinition(loadSync(join(packageFolder, protoFile), { enums: String }));
  for (const name of service.split('.')) found = found[name];
  const Service = found as new (address: string, credentials: ChannelCredentials) => Client;
  return new Service(cluster.address, credentials.createInsecure());
}

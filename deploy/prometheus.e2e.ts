import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually, freePort } from '@halogrid/testing';
import { parse } from 'yaml';
import { boards } from './grafana/boards/index.ts';
import { hasExemplars } from './grafana/dashboard.ts';
import { Processes } from './processes.ts';
import { PrometheusClient, type Series } from './prometheus/client.ts';
import { selectors } from './prometheus/selectors.ts';

// A real Prometheus (Debian's) watches a real cluster with three small jobs and a search. Started by check.sh.

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'halogrid-prometheus-'));
const processes = new Processes();
const halogrid = path('../apps/cli/src/main.ts');
const panels = boards.flatMap(({ rows }) => rows.flatMap((row) => row.panels));
/** Test machines have no card. */
const ourPanels = panels.filter(({ needs }) => needs === undefined);
const frames = { count: 40, sidePx: 256 };
const image = { sidePx: 1024 };
const index = join(folder, 'frames.index');

let prometheus: PrometheusClient;
/** By the clock of Prometheus. */
let startSeconds: number;
let metricsUrls: string[];

before(async () => {
  const [grpc, coordinatorHttp, nodeHttp, web] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const [coordinator, coordinatorMetrics, nodeMetrics] = [grpc, coordinatorHttp, nodeHttp].map(
    (port) => `127.0.0.1:${port}`,
  );
  metricsUrls = [coordinatorMetrics, nodeMetrics].map((address) => `http://${address}/metrics`);
  prometheus = new PrometheusClient(`http://127.0.0.1:${web}`);

  mkdirSync(index);
  const start = (name: string, ...args: string[]) => processes.start(name, process.execPath, [halogrid, ...args]);
  start(
    'coordinator',
    'coordinator',
    '--listen',
    coordinator!,
    '--http',
    coordinatorMetrics!,
    '--ledger',
    join(folder, 'ledger.sqlite'),
    '--index',
    index,
  );
  start('node', 'node', '--coordinator', coordinator!, '--http', nodeMetrics!, '--device', 'cpu');
  processes.start('prometheus', 'prometheus', [
    `--config.file=${writeConfig({ 'halogrid-coordinator': coordinatorMetrics!, 'halogrid-node': nodeMetrics! })}`,
    `--storage.tsdb.path=${join(folder, 'tsdb')}`,
    `--web.listen-address=127.0.0.1:${web}`,
    '--enable-feature=exemplar-storage',
    '--log.level=warn',
  ]);
  await eventually('Prometheus to answer', now, { despiteErrors: true });
  startSeconds = Math.floor(await now());
  await until('both scraped and the node attached', 'sum(up{job=~"halogrid-.+"}) + sum(halogrid_node_attached)', 3);

  const submit = (out: string, ...args: string[]) =>
    start(`submit ${out}`, 'submit', ...args, '--coordinator', coordinator!, '--out', join(folder, out));
  const framePixels = frames.count * frames.sidePx ** 2;
  const source = writeFrames();
  submit('first', source, '--batch', '4');
  await until('the first job', 'sum(halogrid_input_pixels_total)', framePixels);
  // A rate needs two samples: a series that a job creates must have them before the next job adds to it.
  for (const counter of ['halogrid_input_pixels_total', 'halogrid_node_pixels_total']) {
    await until('two samples', `min(count_over_time(${counter}[1m])) >= bool 2`, 1);
  }
  submit('second', source, '--batch', '4');
  submit('image', writeImage(), '--tile', '256');
  await until('the other jobs', 'sum(halogrid_input_pixels_total)', 2 * framePixels + image.sidePx ** 2);
  await until('the end of the jobs', 'sum(halogrid_jobs{state="complete"})', 3);
  const indexing = spawnSync(process.execPath, [halogrid, 'index', join(folder, 'image'), '--to', index]);
  assert.equal(indexing.status, 0, String(indexing.stderr));
  const search = await fetch(`http://${coordinatorMetrics}/api/v1/search?index=frames.index&row=0`);
  assert.equal(search.status, 200, await search.text());
  await until('what both say afterwards', `min(timestamp(up{job=~"halogrid-.+"})) > bool ${await now()}`, 1);
});

after(async () => {
  const codes = await processes.stop();
  rmSync(folder, { recursive: true });
  assert.deepEqual([codes.coordinator, codes.node], [0, 0]);
});

test('the metrics match the work that was done', async () => {
  assert.equal(await value('sum(halogrid_input_frames_total)'), 2 * frames.count + 1);
  assert.equal(await value('sum(halogrid_quarantined_total)'), 2);
});

for (const { title, queries } of ourPanels) {
  test(`panel '${title}' shows something`, async () => {
    for (const { expr } of queries) {
      const series = await history(expr);
      const finite = series.filter(({ samples }) => samples.some(([, sample]) => Number.isFinite(sample)));
      assert.ok(finite.length > 0, `no series with a value: ${expr}`);
    }
  });
}

test('dots on panels of durations link to jobs that the coordinator knows', async () => {
  const durations = ourPanels.flatMap(({ queries }) => queries.map(({ expr }) => expr)).filter(hasExemplars);
  assert.ok(durations.length > 10);
  const { origin } = new URL(metricsUrls[0]!);
  for (const expr of durations) {
    const found = await prometheus.exemplars(substitute(expr), startSeconds, await now());
    assert.ok(found.length > 0, expr);
    for (const { job_id, trace_id } of found) {
      assert.equal((await fetch(`${origin}/jobs/${job_id}`)).status, 200);
      const trace = (await (await fetch(`${origin}/api/v1/jobs/${job_id}/trace`)).json()) as { otherData: object };
      assert.partialDeepStrictEqual(trace.otherData, { job: job_id, trace: trace_id });
    }
  }
});

test('the throughput panels show a rate', async () => {
  for (const { title, queries } of panels.filter(({ unit }) => unit === 'si: px/s' || unit === 'si: frames/s')) {
    const series = await history(queries[0]!.expr);
    assert.ok(
      series.some(({ samples }) => samples.some(([, sample]) => sample > 0)),
      title,
    );
  }
});

test('the lists of the dashboard name the cluster and the node', async () => {
  for (const { query } of boards.flatMap(({ variables }) => variables)) {
    const [, selector, label] = /^label_values\((.+), (\w+)\)$/.exec(query)!;
    assert.equal((await prometheus.query(`count by (${label}) (${substitute(selector!)})`)).length, 1);
  }
});

test('every rule is evaluated without an error, and no alert is near in a healthy cluster', async () => {
  const rules = await prometheus.rules();
  assert.ok(rules.length > 0);
  for (const { name, health, lastError } of rules) assert.equal(health, 'ok', `${name}: ${lastError}`);
  // One late scrape on a busy machine makes an alert pending until the next scrape.
  await eventually('no alert to be near', async () =>
    (await prometheus.rules()).every(({ state = 'inactive' }) => state === 'inactive'),
  );
  assert.deepEqual(await prometheus.query('count_over_time(ALERTS{alertstate="firing"}[1h])'), []);
});

test('every series that a rule or a panel selects exists', async () => {
  const expressions = [
    ...ourPanels.flatMap(({ queries }) => queries.map(({ expr }) => substitute(expr))),
    ...(await prometheus.rules()).map(({ query }) => query),
  ];
  // Only servers with a certificate or tokens that end have this one.
  const others = new Set(expressions.flatMap(selectors)).difference(
    new Set(['halogrid_credential_end_timestamp_seconds']),
  );
  for (const series of others) {
    assert.ok((await prometheus.query(series)).length > 0, `no series ${series}`);
  }
});

test('promtool has no complaint about the metrics', async () => {
  for (const url of metricsUrls) {
    const input = await (await fetch(url)).text();
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    assert.equal(status, 0, `${url}\n${stdout}${stderr}`);
  }
});

/** Writes the committed configuration with the targets of this run, scraped and evaluated every second. */
function writeConfig(targets: Record<string, string>): string {
  const config = parse(readFileSync(path('prometheus/prometheus.yml'), 'utf8'));
  config.global = { scrape_interval: '1s', evaluation_interval: '1s' };
  config.rule_files = config.rule_files.map((file: string) => path(`prometheus/${file}`));
  config.scrape_configs = config.scrape_configs
    .filter(({ job_name }: { job_name: string }) => job_name in targets)
    .map(({ job_name }: { job_name: string }) => ({
      job_name,
      ...(job_name === 'halogrid-node'
        ? {
            // As in prometheus.machines.yml.
            http_sd_configs: [
              { url: `http://${targets['halogrid-coordinator']}/api/v1/targets`, refresh_interval: '1s' },
            ],
            relabel_configs: [{ target_label: 'cluster', replacement: 'lab' }],
          }
        : { static_configs: [{ targets: [targets[job_name]], labels: { cluster: 'lab' } }] }),
    }));
  assert.equal(config.scrape_configs.length, Object.keys(targets).length);
  const file = join(folder, 'prometheus.yml');
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** Makes a folder of frames. One of them is cut off. */
function writeFrames(): string {
  const source = join(folder, 'source');
  mkdirSync(source);
  for (let index = 0; index < frames.count; index++)
    writeFileSync(join(source, `${index}.pgm`), pgm(frames.sidePx, index));
  writeFileSync(join(source, 'broken.pgm'), pgm(frames.sidePx, 0).subarray(0, 1000));
  return source;
}

function writeImage(): string {
  const file = join(folder, 'image.pgm');
  writeFileSync(file, pgm(image.sidePx, 1));
  return file;
}

function pgm(sidePx: number, seed: number): Buffer {
  const pixels = Uint8Array.from({ length: sidePx ** 2 }, (_, index) => (index * index + seed * index) >> 3);
  return Buffer.concat([Buffer.from(`P5\n${sidePx} ${sidePx}\n255\n`), pixels]);
}

/** The series of a panel from the start until now. */
async function history(expr: string): Promise<Series[]> {
  const endSeconds = await now();
  return prometheus.queryRange(substitute(expr), endSeconds - Math.ceil(endSeconds - startSeconds), endSeconds);
}

/** Replaces variables as Grafana does before it asks. */
function substitute(expr: string): string {
  return expr
    .replaceAll('$__rate_interval', '60s')
    .replaceAll('$price', '2.5')
    .replaceAll(/\$(node|cluster)/g, '.*');
}

const now = async () => (await value('vector(time())'))!;

async function value(expr: string): Promise<number | undefined> {
  const [series] = await prometheus.query(expr);
  return series?.samples[0]?.[1];
}

/** Waits until `expr` is `expected`; fails at once if a process fails. */
async function until(what: string, expr: string, expected: number): Promise<void> {
  await eventually(`${what} (${expr} = ${expected})`, async () => {
    assert.deepEqual(processes.failed(), []);
    return (await value(expr).catch(() => undefined)) === expected;
  });
}

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually, freePort } from '@halogrid/testing';
import { parse } from 'yaml';
import { boards } from './grafana/boards/index.ts';
import type { Panel } from './grafana/dashboard.ts';
import { Processes } from './processes.ts';
import { PrometheusClient, type Series } from './prometheus/client.ts';
import { firings } from './prometheus/testing/firing.ts';
import { importTime } from './prometheus/testing/import-time.ts';
import { beginsAt, type Incident, incidents, periodMinutes, toleranceMinutes } from './prometheus/testing/incidents.ts';
import { cardWatts, shardOf } from './prometheus/testing/made-up-process.ts';

// Asks every panel and every alert over a simulated time: two busy clusters, with an incident for each alert, with the
// program's own metrics on a simulated clock, in a real Prometheus (Debian's). Started by check.sh.
// HALOGRID_METRICS_DAYS=7 makes it a week, which takes minutes.

const days = Number(process.env.HALOGRID_METRICS_DAYS ?? 0.5);
const periods = Math.floor((days * 1440) / periodMinutes);
/** The time ends in the middle of a job. */
const minutes = periods * periodMinutes + 30;
const startSeconds = Date.UTC(2026, 0, 5) / 1000;
const endSeconds = startSeconds + 60 * (minutes - 1);

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'halogrid-week-'));
const data = join(folder, 'data');
const processes = new Processes();
let prometheus: PrometheusClient;

before(async () => {
  await importTime({ folder: data, periods, minutes, startSeconds });
  // The rules are recorded by a Prometheus that has the imported samples; one that is started afterwards has both.
  const asked = await start(processes);
  await recordRules(asked);
  await processes.stop();
  prometheus = new PrometheusClient(await start(processes));
});

after(async () => {
  await processes.stop();
  rmSync(folder, { recursive: true });
});

interface Rule {
  alert: string;
  expr: string;
  for?: string;
}
/** Price of an hour of a GPU. */
const price = 2.5;
/** A range of time in minutes. */
interface Window {
  cluster?: string;
  from: number;
  to: number;
}
const rules: Rule[] = parse(readFileSync(path('prometheus/alerts.rules.yml'), 'utf8')).groups[0].rules;

test('every alert is in the list of alerts that must fire', () => {
  const meant = new Set(incidents.flatMap(({ alerts }) => alerts.map(({ alert }) => alert)));
  assert.deepEqual(rules.map(({ alert }) => alert).toSorted(), [...meant].toSorted());
});

for (const { alert, expr, for: wait = '0m' } of rules) {
  test(`${alert} fires when it should, and at no other time`, async () => {
    const step = 60;
    const found = firings(
      await prometheus.queryRange(expr, startSeconds, endSeconds, step),
      60 * Number.parseInt(wait, 10),
      step,
    );
    const minuteOf = (seconds: number) => (seconds - startSeconds) / 60;
    const actual = found.map(({ labels, from, to }) => {
      return { cluster: labels.cluster, from: minuteOf(from), to: minuteOf(to) };
    });
    const meant = incidents.flatMap((incident) => {
      const begin = beginsAt(incident, periods);
      const windows = incident.alerts.filter((window) => window.alert === alert);
      return windows.map(({ from, to }) => ({ cluster: incident.cluster, from: begin + from, to: begin + to }));
    });
    const isOf = (one: Window) => (other: Window) =>
      one.cluster === other.cluster &&
      Math.abs(one.from - other.from) <= toleranceMinutes &&
      Math.abs(one.to - other.to) <= toleranceMinutes;
    const facts = JSON.stringify({ meant, actual });
    for (const window of meant) assert.ok(actual.some(isOf(window)), `It does not fire when it should: ${facts}`);
    for (const window of actual) assert.ok(meant.some(isOf(window)), `It fires when it should not: ${facts}`);
  });
}

/**
 * The largest values that a panel of two clusters may show, by its unit: the clusters' capacity. A missing rate() would
 * show a total, which is larger.
 */
const shardsASecond = (2 * 4) / shardOf.seconds;
const most: Record<Panel['unit'], number> = {
  'si: px/s': shardsASecond * shardOf.frames * shardOf.framePixels,
  'si: frames/s': shardsASecond * shardOf.frames,
  Bps: shardsASecond * shardOf.inputBytes,
  cps: shardsASecond * shardOf.frames,
  bytes: 4e9,
  // No shard waits longer than its job takes.
  s: 60 * periodMinutes,
  percentunit: 1,
  watt: 1000,
  // The energy of a whole minute for the pixels of one shard.
  joule: (4 * 60 * cardWatts * 1e9) / (shardOf.frames * shardOf.framePixels),
  short: 20_000,
};
/** Prometheus extrapolates to the ends of an interval. */
const extended = 1.1;

for (const { title, unit, queries } of boards.flatMap(({ rows }) => rows.flatMap(({ panels }) => panels))) {
  test(`panel '${title}' shows plausible values, from the first minute to the last`, async () => {
    for (const { expr, unit: its = unit } of queries) {
      const series = await history(expr);
      assert.ok(series.length > 0, `no series: ${expr}`);
      for (const { metric, samples } of series) {
        for (const [seconds, value] of samples) {
          const facts = `${JSON.stringify(metric)} at minute ${(seconds - startSeconds) / 60}: ${value}`;
          assert.ok(value >= 0 && value <= most[its] * extended, facts);
        }
      }
      if (!expr.includes('by (cluster')) continue;
      assert.deepEqual([...new Set(series.map(({ metric }) => metric.cluster))].toSorted(), ['archive', 'lab'], expr);
    }
  });
}

test('the overview shows each cluster at the last minute, in the middle of a job', async () => {
  for (const { title, queries } of boards[0]!.rows[0]!.panels) {
    const series = await prometheus.query(substitute(queries[0]!.expr), endSeconds);
    const values = Object.fromEntries(series.map(({ metric, samples }) => [metric.cluster, samples[0]![1]]));
    assert.deepEqual(Object.keys(values).toSorted(), ['archive', 'lab'], title);
    for (const value of Object.values(values)) {
      if (title === 'Pixels') assert.ok(value > most['si: px/s'] / 4, `${value}`);
      if (title === 'Nodes attached') assert.equal(value, 4);
      if (title === 'Quarantined share') assert.equal(value, 0);
      if (title === 'Since last result') assert.equal(value, 0);
    }
  }
});

test('the cost of a gigapixel is right in the middle of a job on four nodes with a card each', async () => {
  const pixelsASecond = (4 / shardOf.seconds) * shardOf.frames * shardOf.framePixels;
  const expected = {
    'Device time a gigapixel': (4 * shardOf.deviceSeconds * 1e9) / shardOf.seconds / pixelsASecond,
    'Energy a gigapixel': (4 * cardWatts * 1e9) / pixelsASecond,
    'Cost a gigapixel': ((4 * price) / 3600 / pixelsASecond) * 1e9,
  };
  for (const [title, figure] of Object.entries(expected)) {
    const series = await panel(title, endSeconds - 60, endSeconds);
    assert.deepEqual(series.map(({ metric }) => metric.cluster).toSorted(), ['archive', 'lab'], title);
    for (const value of series.flatMap(valuesOf)) assert.ok(Math.abs(value / figure - 1) < 0.01, `${title}: ${value}`);
  }
});

test('while a cluster has no leader, the panel shows it, and the other cluster goes on', async () => {
  const [begin, incident] = incidentOf('nobody leads');
  const [series] = [await panel('Leader', begin + 60 * 4, begin + 60 * (incident.minutes - 1))];
  const values = (cluster: string) => series.filter(({ metric }) => metric.cluster === cluster).flatMap(valuesOf);
  assert.deepEqual([...new Set(values('lab'))], [0]);
  assert.equal(Math.max(...values('archive')), 1);
});

test('the time since the last result grows while nodes hang', async () => {
  const [begin, incident] = incidentOf('nodes hang');
  const during = await panel('Since last result', begin, begin + 60 * incident.minutes);
  const longest = Math.max(...during.filter(({ metric }) => metric.cluster === 'lab').flatMap(valuesOf));
  assert.ok(Math.abs(longest - 60 * incident.minutes) <= 60 * toleranceMinutes, `${longest}`);
});

test('after a restart of an idle coordinator, there is no time of a last result before the first result', async () => {
  const [restart] = incidentOf('idle coordinator restarts');
  const shown = await panel('Since last result', restart + 60 * 2, restart + 60 * 10);
  assert.deepEqual([...new Set(shown.map(({ metric }) => metric.cluster))], ['lab']);
});

test('waits of hours are shown correctly', async () => {
  const waited = 60 * 125;
  const series = await panel('Wait for a lease', startSeconds + waited, startSeconds + waited + 60);
  // A quantile lies within its bucket, whose upper bound is one and a half times the lower.
  for (const value of series.flatMap(valuesOf)) assert.ok(value > waited / 1.5 && value < waited * 1.5, `${value}`);
  assert.equal(series.length, 6);
});

async function recordRules(url: string): Promise<void> {
  const times = [`--start=${startSeconds}`, `--end=${endSeconds}`, '--eval-interval=60s', `--output-dir=${data}`];
  const file = path('prometheus/recording.rules.yml');
  await run('promtool', ['tsdb', 'create-blocks-from', 'rules', `--url=${url}`, ...times, file]);
}

/** Starts a Prometheus; resolves with its address once it answers. */
async function start(started: Processes): Promise<string> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  started.start('prometheus', 'prometheus', [
    '--config.file=/dev/null',
    `--storage.tsdb.path=${data}`,
    '--storage.tsdb.retention.time=100y',
    // How long an ended series is still seen. Imported samples have no mark of the end, which Prometheus adds when it
    // scrapes.
    '--query.lookback-delta=90s',
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ]);
  const isReady = async () => (await fetch(`${url}/-/ready`)).ok;
  await eventually('Prometheus to be ready', isReady, { despiteErrors: true });
  return url;
}

/** Asks as Grafana does for a panel over the whole time: at most about two thousand points. */
function history(expr: string, from = startSeconds, to = endSeconds): Promise<Series[]> {
  const step = 60 * Math.ceil((to - from) / 60 / 2000);
  return prometheus.queryRange(substitute(expr, step), from, to, step);
}

/** Replaces variables as Grafana does, for one sample a minute. */
function substitute(expr: string, step = 60): string {
  const interval = `${Math.max(240, step + 60)}s`;
  const asked = expr.replaceAll('$__rate_interval', interval).replaceAll('$price', String(price));
  return asked.replaceAll(/\$(node|cluster)/g, '.*');
}

async function panel(title: string, from: number, to: number): Promise<Series[]> {
  const { queries } = boards
    .flatMap(({ rows }) => rows.flatMap(({ panels }) => panels))
    .find((one) => one.title === title)!;
  return (await Promise.all(queries.map(({ expr }) => history(expr, from, to)))).flat();
}

const valuesOf = ({ samples }: Series): number[] => samples.map(([, value]) => value);

/** When an incident begins, in seconds since 1970, and the incident itself. */
function incidentOf(kind: Incident['kind']): [number, Incident] {
  const incident = incidents.find((one) => one.kind === kind)!;
  return [startSeconds + 60 * beginsAt(incident, periods), incident];
}

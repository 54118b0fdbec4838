import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { askEveryMs, leaseMs } from '@halogrid/leadership';
import { type LogLedger, registryFormat } from '@halogrid/ledger';
import { jobPriorities } from '@halogrid/proto';
import { createServerSecurity, exposeCredentialEnds } from '@halogrid/service';
import { createRegistry, type Registry, waitBuckets, workBuckets } from '@halogrid/service/metrics';
import { parse } from 'yaml';
import { createCoordinatorConfig } from '../apps/coordinator/src/config.ts';
import { createMetrics } from '../apps/coordinator/src/dispatch/work-metrics.ts';
import type { WorkView } from '../apps/coordinator/src/dispatch/work-view.ts';
import { exposeLeadership, exposeState } from '../apps/coordinator/src/expose-state.ts';
import { maxUnwrittenBytes } from '../apps/coordinator/src/scheduler/choose-job.ts';
import { maxDeadNodes, maxLosses } from '../apps/coordinator/src/scheduler/is-poison.ts';
import { suspectFailures } from '../apps/coordinator/src/scheduler/node-health.ts';
import { exposeWork, type NodeWork } from '../apps/gpu-node/src/metrics/expose-work.ts';
import { NodeMetrics } from '../apps/gpu-node/src/metrics/node-metrics.ts';
import { boards } from './grafana/boards/index.ts';
import { metricName, selectors } from './prometheus/selectors.ts';

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const manual = read('../docs/operations.md');
const recordings = rules('recording.rules.yml');
const alerts = rules('alerts.rules.yml');
const registered = new Map([...coordinatorMetrics(), ...nodeMetrics()]);
/** Series that no process registers: recorded by rules, or made by Prometheus or dcgm-exporter. */
const derived = new Set([
  ...recordings.map(({ record }) => record!),
  'up',
  // Series of dcgm-exporter, from its etc/default-counters.csv.
  ...['GPU_UTIL', 'FB_USED', 'POWER_USAGE', 'TOTAL_ENERGY_CONSUMPTION'].map((name) => `DCGM_FI_DEV_${name}`),
]);

test('every metric in the dashboard, the rules and the manual exists in the program', () => {
  const panels = boards.flatMap(({ rows }) => rows.flatMap((row) => row.panels));
  const used = [
    ...panels.flatMap(({ queries }) => queries.flatMap(({ expr }) => selectors(expr))),
    ...[...recordings, ...alerts].flatMap(({ expr }) => selectors(expr)),
    ...[...documented().keys()],
  ];
  for (const series of used) {
    const name = metricName(series);
    assert.ok(registered.has(name) || derived.has(name), `${series} does not exist`);
  }
});

test('every halogrid metric is in the manual, with its labels', () => {
  const rows = documented();
  for (const [name, labels] of registered) {
    if (name.startsWith('halogrid_')) assert.deepEqual(rows.get(name), labels, name);
  }
});

test('every recorded series is in the manual and used', () => {
  const panels = boards.flatMap(({ rows }) => rows.flatMap((row) => row.panels));
  const expressions = [
    ...alerts.map(({ expr }) => expr),
    ...panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)),
  ];
  const used = new Set(expressions.flatMap(selectors).map(metricName));
  for (const { record } of recordings) {
    assert.ok(documented().has(record!), record);
    assert.ok(used.has(record!), record);
  }
});

test('rules keep clusters apart, and alerts name theirs', () => {
  for (const { alert, record, expr, annotations } of [...recordings, ...alerts]) {
    assert.doesNotMatch(expr, /\b(sum|max|min|count|group)\b(?! by \(cluster\b)/, alert ?? record);
    // Joins of two series.
    assert.doesNotMatch(expr, /\bon \((?!cluster\b)/, alert ?? record);
    if (record) assert.match(record, /^(cluster|instance):/);
    else assert.match(annotations!.summary!, /\$labels\.cluster/, alert);
  }
});

test('every alert says how bad it is and what to do, and the runbook has that section', () => {
  const sections = new Set([...manual.matchAll(/^### (.+)$/gm)].map(([, title]) => title!.toLowerCase()));
  for (const { alert, labels, annotations } of alerts) {
    assert.ok(['warning', 'critical'].includes(labels!.severity!), alert);
    for (const key of ['summary', 'description']) assert.match(annotations![key]!, /\.$/, `${alert} ${key}`);
    assert.equal(annotations!.runbook, `docs/operations.md#${alert!.toLowerCase()}`);
    assert.ok(sections.has(alert!.toLowerCase()), `${alert} has no section`);
    const [, uid] = /^d\/(.+)\?var-cluster=\{\{ \$labels\.cluster \}\}$/.exec(annotations!.dashboard!)!;
    assert.ok(
      boards.some((board) => board.uid === uid),
      alert,
    );
  }
});

test('figures of the manual are the same as in the code', () => {
  const text = manual.replaceAll(/\s+/g, ' ');
  const { nodeTimeoutMs, nodeGraceMs, sourceGraceMs } = createCoordinatorConfig();
  const figures = [
    `No more shards of a job are leased once ${maxUnwrittenBytes / 2 ** 20} MiB of its results wait`,
    `given up when ${maxDeadNodes} nodes have died over it, or after ${maxLosses} losses`,
    `(\`--node-timeout\`, ${nodeTimeoutMs / 1000} s)`,
    `\`--node-grace\` (${nodeGraceMs / 1000} s)`,
    `\`--source-grace\` (${sourceGraceMs / 1000} s)`,
    `of work with ${workBuckets.length} buckets from ${1000 * workBuckets[0]!} ms to half an hour`,
    `of waits for a lease with ${waitBuckets.length} from ${1000 * waitBuckets[0]!} ms to a day`,
    `fails ${suspectFailures} of its last 10 shards`,
    `(${jobPriorities.lowest} to ${jobPriorities.highest})`,
    `(format 5, this is ${registryFormat})`,
    // The lease ends, and a standby asks for it within one more interval.
    `cut off from the database | ${(leaseMs + askEveryMs) / 1000} s`,
  ];
  for (const figure of figures) assert.ok(text.includes(figure), figure);
  assert.deepEqual([workBuckets.at(-1), waitBuckets.at(-1)], [30 * 60, 24 * 3600]);
});

test('the example for Alertmanager names alerts and labels that the rules have, and receivers that it has', () => {
  const { route, inhibit_rules, receivers } = parse(read('prometheus/alertmanager.yml'));
  const matchers = (text: string) => /^(\w+)=~?"(.+)"$/.exec(text)!.slice(1);
  const fits = (wanted: string[]) =>
    alerts.filter(({ alert, labels }) =>
      wanted
        .map(matchers)
        .every(([label, value]) => new RegExp(`^(${value})$`).test(label === 'alertname' ? alert! : labels![label!]!)),
    );
  const all = [...route.routes.map((each: { matchers: string[] }) => each.matchers)];
  for (const { source_matchers, target_matchers, equal } of inhibit_rules) {
    all.push(source_matchers, target_matchers);
    assert.deepEqual(equal, ['cluster']);
    for (const name of matchers(source_matchers[0])[1]!.split('|'))
      assert.equal(fits([`alertname="${name}"`]).length, 1);
  }
  for (const wanted of all) assert.ok(fits(wanted).length > 0, wanted.join());
  assert.equal(
    fits(route.routes[0].matchers).length,
    alerts.filter(({ labels }) => labels!.severity === 'critical').length,
  );
  const names = receivers.map(({ name }: { name: string }) => name);
  for (const { receiver } of [route, ...route.routes]) assert.ok(names.includes(receiver), receiver);
});

test('every alert has a firing and a silent case', () => {
  const cases = parse(read('prometheus/rules.test.yml')).tests.flatMap(
    (test: { alert_rule_test?: object[] }) => test.alert_rule_test ?? [],
  );
  for (const { alert } of alerts) {
    const firing = cases
      .filter((item: { alertname: string }) => item.alertname === alert)
      .map((item: { exp_alerts?: object[] }) => !!item.exp_alerts);
    assert.ok(firing.includes(true) && firing.includes(false), alert);
  }
});

function rules(file: string): Rule[] {
  return parse(read(`prometheus/${file}`)).groups.flatMap((group: { rules: Rule[] }) => group.rules);
}

/** The metrics in the manual's tables: names with their labels. */
function documented(): Map<string, string[]> {
  const rows = manual.matchAll(/^\| `([a-z_:][\w:]*)(?:\{([\w,]+)\})?` \|/gm);
  return new Map([...rows].map(([, name, labels]) => [name!, labels?.split(',') ?? []]));
}

function coordinatorMetrics(): [string, string[]][] {
  const registry = createRegistry('coordinator');
  createMetrics(registry);
  // Empty objects will do, because only names are read, not values.
  exposeState(registry, {} as WorkView, {} as LogLedger);
  exposeLeadership(registry, { standby: undefined, epoch: 0 });
  exposeCredentialEnds(registry, createServerSecurity({}));
  return names(registry);
}

function nodeMetrics(): [string, string[]][] {
  const registry = createRegistry('node');
  new NodeMetrics(registry);
  exposeWork(registry, 'gpu', {} as NodeWork);
  return names(registry);
}

function names(registry: Registry): [string, string[]][] {
  const metrics = registry.getMetricsAsArray() as unknown as { name: string; labelNames: string[] }[];
  return metrics.map(({ name, labelNames }) => [name, labelNames]);
}

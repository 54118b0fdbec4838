import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually, freePort, pause, standStill, timeoutMs } from '@halogrid/testing';
import { ScriptedNode } from '../apps/coordinator/src/services/testing/scripted-node.ts';
import { Cluster, type ClusterNode, startNode } from './cluster.ts';
import { withFaults } from './faults/node-hooks.ts';
import { Halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { scratchFolder } from './scratch-folder.ts';
import { type Alert, WatchingPrometheus } from './watching-prometheus.ts';

// Makes each alert fire once, by a fault of real processes that a real Prometheus (Debian's) watches, and checks that
// none fires while they are well. The rules have shorter times and are otherwise unchanged. A second cluster works
// without faults all the time. Started by deploy/check.sh.

/** How many seconds a minute of the rules lasts here. */
const minuteSeconds = 2;
const folder = scratchFolder();
const data = join(folder, 'data');
const elsewhere = join(folder, 'elsewhere');
const disk = join(folder, 'disk');
const ledger = join(disk, 'ledger.sqlite');
mkdirSync(disk);
/** A separate disk for the ledger, which the test can fill. */
const hasDisk = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk]).status === 0;
let prometheus: WatchingPrometheus;
/** The cluster with all the faults, and the one without any. */
let lab: Cluster;
let archive: Cluster;
let jobs = 0;
let isOver = false;
/** Resolves when the work of the archive cluster is over; with the error if it failed. */
let archiveWorks: Promise<unknown>;
/**
 * Alerts about slowness. With the short times here, a busy machine alone can raise them; deploy/prometheus.e2e.ts
 * checks a healthy cluster with the real rules.
 */
const ofSlowness = [
  'HalogridTargetDown',
  'HalogridNodeDown',
  'HalogridLedgerBehind',
  'HalogridQueueStalled',
  'HalogridEventLoopLagHigh',
  'HalogridNodeSlow',
];

before(async () => {
  for (const path of ['frames', 'damaged'].map((name) => join(data, name)).concat(elsewhere))
    mkdirSync(path, { recursive: true });
  for (let i = 0; i < 120; i++) await writePgm(join(data, 'frames', `${i}.pgm`), drawPicture(64, 48, i));
  for (let i = 0; i < 20; i++) {
    await writePgm(join(data, 'damaged', `${i}.pgm`), drawPicture(64, 48, i));
    writeFileSync(join(data, 'damaged', `empty-${i}.png`), '');
  }
  await writePgm(join(elsewhere, 'unseen.pgm'), drawPicture(64, 48));
  [prometheus, lab, archive] = await Promise.all([
    WatchingPrometheus.start(60 / minuteSeconds),
    Cluster.start({ nodes: 0, ledger }),
    Cluster.start(),
  ]);
  await joins('n1');
  prometheus.watch('archive', targetsOf(archive));
  archiveWorks = workUntilOver().catch((error) => error);
});

after(async () => {
  isOver = true;
  await archiveWorks;
  await Promise.all([lab?.stop(), archive?.stop(), prometheus?.stop()]);
  if (hasDisk) spawnSync('umount', ['-l', disk]);
});

test('no alert fires in healthy clusters', async () => {
  await labRuns('frames');
  await labRuns('frames');
  // Waits as long as the slowest alert looks back, so that alerts which a start might raise would show.
  const since = 'min(count_over_time(up[1h])) >= bool 30';
  await eventually('half a minute of scrapes', async () => (await prometheus.query(since))[0]?.value === 1);
  assert.deepEqual([await faultsOf('lab'), await faultsOf('archive')], [[], []]);
});

test('a job that fails, and damaged inputs', async () => {
  const submitted = await lab.halogrid(['submit', join(data, 'damaged'), '--max-quarantined', '0', '--out', nextOut()]);
  assert.equal(submitted.code, 0, submitted.stderr);
  await fires('HalogridJobsFailed');
  await labRuns('damaged');
  await fires('HalogridQuarantineRatioHigh');
});

test('wrong answers of a node', async (t) => {
  const program = fileURLToPath(new URL('lying-node.ts', import.meta.url));
  const liar = spawn(process.execPath, [program, lab.address, 'liar'], { stdio: 'ignore' });
  t.after(() => liar.kill('SIGKILL'));
  await sees('halogrid_result_mismatches_total{node="liar"}');
  const checked = ['submit', join(data, 'frames'), '--verify', '100%', '--batch', '2', '--out', nextOut()];
  const { code, stderr } = await lab.halogrid(checked);
  assert.equal(code, 0, stderr);
  assert.equal((await fires('HalogridResultMismatch')).labels.node, 'liar');
});

test('a device that hangs', async () => {
  const hanging = { env: withFaults({ hang: { devices: 1, afterBatches: 0 } }) };
  const { http } = await joins('hanging', ['--device-timeout', String(timeoutMs(2_000))], 'software', hanging);
  await sees(`halogrid_gpu_device_lost_total{instance="${hostOf(http)}"}`);
  await labRuns('frames');
  assert.equal((await fires('HalogridDeviceLost')).labels.instance, hostOf(http));
});

test('a card that two nodes have open', async () => {
  const device = { kind: 'gpu', name: 'A card', driver: '', gpu: { uuid: 'GPU-1', pciBusId: '0000:0f:00.0' } };
  const port = Number(lab.address.split(':')[1]);
  const sharing = await Promise.all(
    ['a', 'b'].map((name) => ScriptedNode.attach(port, { nodeId: name, name, device, creditBytes: 0 })),
  );
  await fires('HalogridGpuShared');
  for (const node of sharing) node.hangUp();
});

test('a node that computes less than others with its device, and a token that ends', async (t) => {
  const now = (await prometheus.query('vector(time())'))[0]!.value;
  /** The metrics after that many scrapes, one a second. */
  const page = (pixelsASecond: number, seconds: number): string =>
    `halogrid_node_attached 1
halogrid_node_info{device="gpu",name="A card"} 1
halogrid_node_pixels_total{kernel="lbp"} ${seconds * pixelsASecond}
halogrid_node_busy_seconds_total{stage="shard"} ${seconds}
halogrid_credential_end_timestamp_seconds{kind="token",name="rack"} ${now + 86_400}
`;
  const scripted = await Promise.all(
    [1000, 1000, 100].map(async (pixelsASecond) => {
      let scrapes = 0;
      const server = createServer((_, response) => response.end(page(pixelsASecond, ++scrapes)));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.after(() => server.close());
      return `127.0.0.1:${(server.address() as AddressInfo).port}`;
    }),
  );
  const targets = targetsOf(lab);
  prometheus.watch('lab', { ...targets, 'halogrid-node': [...targets['halogrid-node'], ...scripted] });
  const [slow] = await Promise.all([fires('HalogridNodeSlow'), fires('HalogridCredentialEnds')]);
  assert.equal(slow.labels.instance, scripted[2]);
  prometheus.watch('lab', targets);
});

test('nodes that cannot read the sources, and a job that waits for one that can', async () => {
  const jobId = await lab.jobs.submit({ sources: [join(elsewhere, 'unseen.pgm')], out: nextOut() });
  await Promise.all([fires('HalogridJobsBlocked'), fires('HalogridNodeLacks')]);
  await lab.jobs.cancel(jobId);
});

test('nodes that hang, are killed, and have their shards taken over', async () => {
  const [n1] = await leave('hanging');
  await lab.jobs.submit({ sources: [join(data, 'frames')], batchFrames: 1, out: nextOut() });
  await eventually('it to hold shards', async () => (await lab.node('n1'))!.leases >= 4);
  standStill(n1!.pid);
  await fires('HalogridQueueStalled');
  process.kill(n1!.pid, 'SIGKILL');
  await n1!.program.ended;
  await Promise.all([fires('HalogridNodesLost'), fires('HalogridNodeDown')]);
  lab.nodes.splice(lab.nodes.indexOf(n1!), 1);
  await joins('n2');
  await fires('HalogridLeaseExpiryRateHigh');
});

test('a process that answers late', async () => {
  const { pid } = lab.nodes[0]!;
  let isLate = true;
  const stopping = (async () => {
    while (isLate) {
      const goOn = standStill(pid);
      await pause(700);
      goOn();
      await pause(200);
    }
  })();
  await fires('HalogridEventLoopLagHigh').finally(() => {
    isLate = false;
    return stopping;
  });
});

test('a ledger whose disk is full', { skip: !hasDisk && 'this user may not mount a disk' }, async () => {
  const filler = join(disk, 'filler');
  assert.notEqual(spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']).status, 0);
  const written = lab.jobs.submit({ sources: [join(data, 'frames')], batchFrames: 4, out: nextOut() });
  await fires('HalogridLedgerBehind').finally(() => rmSync(filler));
  await lab.jobs.untilEnded(await written);
});

test('nodes that leave in order and do not come back, although there is work', async () => {
  for (const { name } of [...lab.nodes]) await leave(name);
  const jobId = await lab.jobs.submit({ sources: [join(data, 'frames')], batchFrames: 4, out: nextOut() });
  await Promise.all([fires('HalogridNoNodes'), fires('HalogridFewerNodes')]);
  await joins('n3');
  await lab.jobs.untilEnded(jobId);
});

test('targets that are another program, and missing targets', async () => {
  const { 'halogrid-coordinator': coordinators } = targetsOf(lab);
  prometheus.watch('lab', { 'halogrid-coordinator': coordinators, 'halogrid-node': [prometheus.address] });
  await fires('HalogridMetricsMissing');
  prometheus.watch('lab', { 'halogrid-coordinator': coordinators, 'halogrid-node': [] });
  await fires('HalogridNodesUnwatched');
  const nobody = `127.0.0.1:${await freePort()}`;
  prometheus.watch('lab', { 'halogrid-coordinator': [...coordinators, nobody], 'halogrid-node': [] });
  await fires('HalogridTargetDown');
  prometheus.watch('lab', { 'halogrid-coordinator': [], 'halogrid-node': [] });
  await fires('HalogridCoordinatorAbsent');
});

test('a killed leader, whose ledger another gets only once the lease is over', async (t) => {
  const http = `127.0.0.1:${await freePort()}`;
  prometheus.watch('lab', { ...targetsOf(lab), 'halogrid-coordinator': [http] });
  const where = ['--listen', `127.0.0.1:${await freePort()}`, '--http', http, '--log-level', 'error'];
  // There is no leader for seconds, little more than the alert waits here, so this is repeated until Prometheus has
  // seen it.
  for (let leader = lab.coordinator; !(await prometheus.everFired('lab')).includes('HalogridNobodyLeads'); ) {
    leader.kill();
    await leader.ended;
    const next = new Halogrid(['coordinator', '--ledger', ledger, ...where]);
    t.after(() => next.kill());
    await next.firstLine;
    leader = next;
  }
});

test('every alert has fired in the cluster with the faults, and none in the other', async () => {
  const rules = readFileSync(new URL('../deploy/prometheus/alerts.rules.yml', import.meta.url), 'utf8');
  const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);
  const meant = hasDisk ? names : names.filter((name) => name !== 'HalogridLedgerBehind');
  assert.deepEqual((await prometheus.everFired('lab')).toSorted(), meant.toSorted());
  assert.deepEqual(await faultsOf('archive'), []);
  const done = 'halogrid_jobs{cluster="archive", state="complete"} > 10';
  await Promise.race([sees(done), archiveWorks]);
  isOver = true;
  assert.ifError(await archiveWorks);
});

/** Makes a node join the cluster with the faults. It sees the data, and Prometheus scrapes it. */
async function joins(
  name: string,
  options: readonly string[] = [],
  device = 'cpu',
  start: Parameters<typeof startNode>[4] = {},
): Promise<ClusterNode> {
  const node = await startNode(lab.address, name, device, ['--data-root', data, ...options], start);
  await lab.adopt(node);
  prometheus.watch('lab', targetsOf(lab));
  return node;
}

/** Makes a node leave in order; returns the nodes that stay. */
async function leave(name: string): Promise<ClusterNode[]> {
  const node = lab.nodes.find((one) => one.name === name)!;
  lab.nodes.splice(lab.nodes.indexOf(node), 1);
  prometheus.watch('lab', targetsOf(lab));
  node.program.signal('SIGTERM');
  await node.program.ended;
  return lab.nodes;
}

/** Waits until that alert fires, and checks that its texts are complete and name this cluster. */
async function fires(name: string): Promise<Alert> {
  const alert = await eventually(`${name} to fire`, async () =>
    (await prometheus.firing('lab')).find(({ labels }) => labels.alertname === name),
  );
  assert.match(alert.annotations.summary!, /\blab\b/);
  assert.doesNotMatch(Object.values(alert.annotations).join(), /no value|\{\{|NaN/);
  return alert;
}

/** Names of the alerts that ever fired in a cluster, without alerts about slowness. */
async function faultsOf(cluster: string): Promise<string[]> {
  return (await prometheus.everFired(cluster)).filter((name) => !ofSlowness.includes(name));
}

/** Waits until Prometheus has a series. */
function sees(series: string): Promise<unknown> {
  return eventually(series, async () => (await prometheus.query(series)).length > 0);
}

function labRuns(sources: string): Promise<unknown> {
  return lab.jobs.run({ sources: [join(data, sources)], batchFrames: 4, out: nextOut() });
}

async function workUntilOver(): Promise<void> {
  for (; !isOver; await pause(200)) {
    await archive.jobs.run({ sources: [join(data, 'frames')], batchFrames: 8, out: nextOut() });
  }
}

function nextOut(): string {
  return join(data, `out-${++jobs}`);
}

function targetsOf({ http, nodes }: Cluster) {
  return { 'halogrid-coordinator': [http], 'halogrid-node': nodes.map((node) => node.http) };
}

function hostOf(url: string): string {
  return new URL(url).host;
}

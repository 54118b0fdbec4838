import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { credentials, status } from '@grpc/grpc-js';
import {
  Hello,
  maxMessageBytes,
  type NodeStatus,
  NodesClient,
  type NodesServer,
  protocolVersion,
  splitAnswer,
} from '@halogrid/proto';
import { resultsVersion } from '@halogrid/service';
import { createLog } from '@halogrid/service/log';
import { createRegistry } from '@halogrid/service/metrics';
import { startCoordinator } from '../coordinator.ts';
import { systemClock } from '../dispatch/clock.ts';
import { Dispatcher } from '../dispatch/dispatcher.ts';
import { createMetrics } from '../dispatch/work-metrics.ts';
import { openLedger } from '../ledger/testing/open-ledger.ts';
import { abandonJob, finaliseJob } from '../output/finalise.ts';
import { releaseOutputFolder } from '../output/output-folder.ts';
import { openTables } from '../output/tables-file.ts';
import { planJob } from '../plan/planner.ts';
import { testConfig } from '../testing/coordinator-stage.ts';
import { HandOver } from './hand-over.ts';
import { createNodesService } from './nodes-service.ts';
import { ScriptedNode } from './testing/scripted-node.ts';

/** Starts a coordinator that the test's end stops; returns its gRPC port. */
async function start(t: TestContext, nodeTimeoutMs = 10_000): Promise<number> {
  const config = testConfig({
    listen: '127.0.0.1:0',
    http: '127.0.0.1:0',
    ledger: 'memory',
    nodeTimeoutMs,
  });
  const coordinator = (await startCoordinator(config, createLog('test', 'silent')))!;
  t.after(() => coordinator.close());
  return coordinator.grpcPort;
}

async function listNodes(grpcPort: number): Promise<NodeStatus[]> {
  const client = new NodesClient(`127.0.0.1:${grpcPort}`, credentials.createInsecure());
  try {
    return await new Promise((resolve, reject) => {
      client.list({}, (error, response) => (error ? reject(error) : resolve(response.nodes)));
    });
  } finally {
    client.close();
  }
}

/** Waits until as many nodes are attached. */
async function untilAttached(grpcPort: number, count: number): Promise<NodeStatus[]> {
  for (;;) {
    const nodes = await listNodes(grpcPort);
    if (nodes.length === count) return nodes;
    await delay(5);
  }
}

const device = { kind: 'cpu', name: '', driver: '' };
const wrongHellos: [string, Partial<Hello>, number, RegExp][] = [
  [
    'another protocol',
    { protocol: protocolVersion + 1 },
    status.FAILED_PRECONDITION,
    new RegExp(`this coordinator ${protocolVersion} `),
  ],
  [
    'other results',
    { resultsVersion: 1 },
    status.FAILED_PRECONDITION,
    new RegExp(`results of version 1 .* takes ${resultsVersion} `),
  ],
  ['no id', { nodeId: '' }, status.INVALID_ARGUMENT, /for hello.node_id but received ''/],
  [
    'an endless name',
    { name: 'x'.repeat(201) },
    status.INVALID_ARGUMENT,
    /1 to 200 characters, none of them a control character, for hello.name/,
  ],
  ['no device', { device: undefined }, status.INVALID_ARGUMENT, /gpu, software, cpu for device.kind/],
  ['an unknown device', { device: { ...device, kind: 'tpu' } }, status.INVALID_ARGUMENT, /received 'tpu'/],
  [
    'an endless UUID',
    { device: { ...device, gpu: { uuid: 'x'.repeat(201), pciBusId: '' } } },
    status.INVALID_ARGUMENT,
    /at most 200 characters, none of them a control character, for hello.device.gpu.uuid/,
  ],
];

for (const [name, hello, code, sentence] of wrongHellos) {
  test(`a node with ${name} is refused`, async (t) => {
    const node = new ScriptedNode(await start(t));
    node.hello(hello);
    const end = await node.over();
    assert.equal(end.code, code, end.details);
    assert.match(end.details, sentence);
    node.hangUp();
  });
}

test('a conversation that does not begin with hello is refused', async (t) => {
  const node = new ScriptedNode(await start(t));
  node.say({ $case: 'heartbeat', value: {} });
  assert.deepEqual(await node.over(), {
    code: status.INVALID_ARGUMENT,
    details: "Expected hello for the first report but received 'heartbeat'",
  });
  node.hangUp();
});

test('a conversation that begins with silence is ended', async (t) => {
  const node = new ScriptedNode(await start(t, 100));
  assert.match((await node.over()).details, /Expected hello within 100 ms/);
  node.hangUp();
});

for (const [name, say, sentence] of [
  ['a second hello', (node: ScriptedNode) => node.hello(), /hello as the first report only/],
  ['an empty message', (node: ScriptedNode) => node.sayNothing(), /received an empty message/],
] as const) {
  test(`${name} ends the conversation`, async (t) => {
    const grpcPort = await start(t);
    const node = await ScriptedNode.attach(grpcPort);
    say(node);
    const end = await node.over();
    assert.equal(end.code, status.INVALID_ARGUMENT);
    assert.match(end.details, sentence);
    await untilAttached(grpcPort, 0);
    node.hangUp();
  });
}

test('an answer that is not put together as it says ends the conversation', async (t) => {
  const node = await ScriptedNode.attach(await start(t));
  const lease = { jobId: 'x', shard: 0, attempt: 1, epoch: 1 };
  const bins = new Uint32Array(300).fill(1);
  const result = { source: 0, width: 20, height: 15, rect: undefined, counted: 300, bins };
  const answer = { ...lease, results: [result], errors: [], stageSeconds: {}, busySeconds: {}, inputBytes: 0 };
  // There is no such lease: the answer is put together, and then passed over.
  const reports = [...splitAnswer(answer, 100)];
  for (const report of reports) {
    node.say(report);
    await node.next('acknowledge');
  }
  node.say(reports[1]!);
  const end = await node.over();
  assert.deepEqual(end, { code: status.INVALID_ARGUMENT, details: "Expected 1 for part.number but received '2'" });
  node.hangUp();
});

test('a message above the limit ends the conversation', async (t) => {
  const grpcPort = await start(t);
  const node = await ScriptedNode.attach(grpcPort);
  const lease = { jobId: 'x', shard: 0, attempt: 1, epoch: 1 };
  node.say({ $case: 'failed', value: { ...lease, error: 'x'.repeat(maxMessageBytes), output: false, need: '' } });
  assert.equal((await node.over()).code, status.RESOURCE_EXHAUSTED);
  await untilAttached(grpcPort, 0);
  node.hangUp();
});

test('every report is answered, and every order says when the next report is due', async (t) => {
  const node = new ScriptedNode(await start(t, 5000));
  node.hello();
  while (node.heard.length === 0) await delay(1);
  assert.equal(node.heard[0]!.reportWithinMs, 5000);
  assert.equal((await node.next('welcome')).epoch, 1);
  node.say({ $case: 'heartbeat', value: {} });
  while (node.heard.length === 0) await delay(1);
  assert.deepEqual(node.heard[0], { reportWithinMs: 5000, order: { $case: 'acknowledge', value: {} } });
  await node.next('acknowledge');
  node.say({ $case: 'draining', value: {} });
  await node.next('drain');
  node.hangUp();
});

test('a node that falls silent is dropped, one that reports in time is not', async (t) => {
  const grpcPort = await start(t, 300);
  const silent = await ScriptedNode.attach(grpcPort, { nodeId: 'silent' });
  const alive = await ScriptedNode.attach(grpcPort, { nodeId: 'alive' });
  const reports = setInterval(() => alive.say({ $case: 'heartbeat', value: {} }), 50);
  assert.deepEqual(await silent.over(), {
    code: status.UNAVAILABLE,
    details: 'The node was silent for more than 300 ms',
  });
  const [node] = await untilAttached(grpcPort, 1);
  assert.equal(node?.nodeId, 'alive');
  clearInterval(reports);
  silent.hangUp();
  alive.hangUp();
});

test('a draining node is listed as such until it closes the stream', async (t) => {
  const grpcPort = await start(t);
  const node = await ScriptedNode.attach(grpcPort, { nodeId: 'a', name: 'one', softwareVersion: '1.2.3' });
  node.say({ $case: 'draining', value: {} });
  await node.next('drain');
  const [listed] = await listNodes(grpcPort);
  assert.deepEqual([listed?.name, listed?.softwareVersion, listed?.draining], ['one', '1.2.3', true]);
  assert.ok(Math.abs(listed!.attachedMs - Date.now()) < 60_000);
  node.closeStream();
  assert.equal((await node.over()).code, 0);
  assert.deepEqual(await untilAttached(grpcPort, 0), []);
  node.hangUp();
});

test('a node that attaches anew takes the place of its older self', async (t) => {
  const grpcPort = await start(t);
  const before = await ScriptedNode.attach(grpcPort, { nodeId: 'same', name: 'before' });
  const after = await ScriptedNode.attach(grpcPort, { nodeId: 'same', name: 'after' });
  assert.equal((await before.over()).details, 'The node attached anew');
  const nodes = await listNodes(grpcPort);
  assert.deepEqual(
    nodes.map(({ name }) => name),
    ['after'],
  );
  before.hangUp();
  after.hangUp();
});

test('a node that vanishes is forgotten at once', async (t) => {
  const grpcPort = await start(t);
  const node = await ScriptedNode.attach(grpcPort);
  await untilAttached(grpcPort, 1);
  node.hangUp();
  await untilAttached(grpcPort, 0);
});

test('nothing piles up for a node that reports but does not read', async (t) => {
  const ledger = await openLedger(() => assert.fail('no job is submitted'));
  const dispatcher = new Dispatcher({
    ledger,
    work: {
      plan: planJob,
      tables: openTables,
      finalise: finaliseJob,
      abandon: abandonJob,
      release: releaseOutputFolder,
    },
    clock: systemClock,
    reportWithinMs: 10_000,
    metrics: createMetrics(createRegistry('coordinator')),
    log: createLog('test', 'silent'),
  });
  t.after(() => dispatcher.close());
  const call = new Duplex({ objectMode: true, read() {}, write() {} });
  call.on('error', () => {});
  const files = { handOver: new HandOver(), httpPort: 0 };
  createNodesService(dispatcher, 10_000, files).attach(call as unknown as Parameters<NodesServer['attach']>[0]);
  call.push({
    report: {
      $case: 'hello',
      value: Hello.fromPartial({
        ...{ nodeId: 'deaf', name: 'deaf', protocol: protocolVersion, resultsVersion },
        ...{ device, creditBytes: 1 },
      }),
    },
  });
  for (let i = 0; i < 10_000; i++) call.push({ report: { $case: i % 2 ? 'heartbeat' : 'draining', value: {} } });
  while (call.readableLength > 0) await delay(1);
  assert.equal(dispatcher.nodes().length, 1);
  assert.ok(call.writableLength <= call.writableHighWaterMark, `${call.writableLength} orders wait`);
});

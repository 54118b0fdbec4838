import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { credentials, status } from '@grpc/grpc-js';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import {
  type AttachRequest,
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
import { eventually, turns } from '@halogrid/testing';
import type { CoordinatorOptions } from '../config.ts';
import { startCoordinator } from '../coordinator.ts';
import { Dispatcher } from '../dispatch/dispatcher.ts';
import { createMetrics } from '../dispatch/work-metrics.ts';
import { abandonJob, finaliseJob } from '../output/finalise.ts';
import { releaseOutputFolder } from '../output/output-folder.ts';
import { openTables } from '../output/tables-file.ts';
import { planJob } from '../plan/planner.ts';
import { testConfig } from '../testing/coordinator-stage.ts';
import { VirtualClock } from '../testing/simulation/virtual-clock.ts';
import { HandOver } from './hand-over.ts';
import { createNodesService } from './nodes-service.ts';
import { ScriptedNode } from './testing/scripted-node.ts';

/** Starts a coordinator that the test's end stops; returns its gRPC port. */
async function start(t: TestContext, options: CoordinatorOptions = {}): Promise<number> {
  const coordinator = (await startCoordinator(testConfig(options), createLog('test', 'silent')))!;
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
const untilAttached = (grpcPort: number, count: number): Promise<NodeStatus[]> =>
  eventually(`${count} attached nodes`, async () => {
    const nodes = await listNodes(grpcPort);
    return nodes.length === count && nodes;
  });

const device = { kind: 'cpu', name: '', driver: '' };
const wrongHellos: [string, Partial<Hello>, number, RegExp][] = [
  [
    'another protocol',
    { protocol: protocolVersion + 1 },
    status.FAILED_PRECONDITION,
    new RegExp(`this coordinator ${protocolVersion - 1} to ${protocolVersion} `),
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

test('a node whose hello is wrong is refused', async (t) => {
  const grpcPort = await start(t);
  for (const [name, hello, code, sentence] of wrongHellos) {
    const node = new ScriptedNode(grpcPort);
    node.hello(hello);
    const end = await node.over();
    assert.equal(end.code, code, `${name}: ${end.details}`);
    assert.match(end.details, sentence, name);
    node.hangUp();
  }
});

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
  const node = new ScriptedNode(await start(t, { nodeTimeoutMs: 100 }));
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

test('an answer whose parts do not fit together ends the conversation', async (t) => {
  const node = await ScriptedNode.attach(await start(t));
  const lease = { jobId: 'x', shard: 0, attempt: 1, epoch: 1 };
  const bins = new Uint32Array(300).fill(1);
  const result = { source: 0, width: 20, height: 15, rect: undefined, counted: 300, bins };
  const answer = { ...lease, results: [result], errors: [], stageSeconds: {}, busySeconds: {}, inputBytes: 0 };
  // There is no such lease: the answer is put together, and then ignored.
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
  const node = new ScriptedNode(await start(t, { nodeTimeoutMs: 123_456 }));
  const heard = () => eventually('an order', () => node.heard[0]);
  node.hello();
  assert.equal((await heard()).reportWithinMs, 123_456);
  assert.equal((await node.next('welcome')).epoch, 1);
  node.say({ $case: 'heartbeat', value: {} });
  assert.deepEqual(await heard(), { reportWithinMs: 123_456, order: { $case: 'acknowledge', value: {} } });
  await node.next('acknowledge');
  node.say({ $case: 'draining', value: {} });
  await node.next('drain');
  node.hangUp();
});

test('a draining node is listed as such until it closes the stream', async (t) => {
  const grpcPort = await start(t);
  const node = await ScriptedNode.attach(grpcPort, { nodeId: 'a', name: 'one', softwareVersion: '1.2.3' });
  node.say({ $case: 'draining', value: {} });
  await node.next('drain');
  const [listed] = await listNodes(grpcPort);
  assert.deepEqual([listed?.name, listed?.softwareVersion, listed?.draining], ['one', '1.2.3', true]);
  const sinceStartMs = listed!.attachedMs - Math.floor(performance.timeOrigin);
  assert.ok(sinceStartMs >= 0 && sinceStartMs < 86_400_000, 'it attached while this process ran');
  node.closeStream();
  assert.equal((await node.over()).code, 0);
  assert.deepEqual(await untilAttached(grpcPort, 0), []);
  node.hangUp();
});

test('a node that attaches again takes the place of its older self', async (t) => {
  const grpcPort = await start(t);
  const before = await ScriptedNode.attach(grpcPort, { nodeId: 'same', name: 'before' });
  const after = await ScriptedNode.attach(grpcPort, { nodeId: 'same', name: 'after' });
  assert.equal((await before.over()).details, 'The node attached again');
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

/** Nodes that talk to the service in this process; a clock of the test drops silent ones. */
async function serve(t: TestContext) {
  const clock = new VirtualClock();
  const ledger = await openLogLedger('no job is submitted');
  const dispatcher = new Dispatcher({
    ledger,
    work: {
      plan: planJob,
      tables: openTables,
      finalise: finaliseJob,
      abandon: abandonJob,
      release: releaseOutputFolder,
    },
    clock,
    every: clock.every.bind(clock),
    reportWithinMs: 10_000,
    metrics: createMetrics(createRegistry('coordinator')),
    log: createLog('test', 'silent'),
  });
  t.after(() => dispatcher.close());
  const service = createNodesService(dispatcher, 10_000, { handOver: new HandOver(), httpPort: 0 });
  /** `write` takes the orders to the node. */
  const attach = (nodeId: string, write: (order: unknown, encoding: string, taken: () => void) => void) => {
    const call = Object.assign(new Duplex({ objectMode: true, read() {}, write }), { getPeer: () => '10.0.0.7:51234' });
    const errors: unknown[] = [];
    call.on('error', (error) => errors.push(error));
    service.attach(call as unknown as Parameters<NodesServer['attach']>[0]);
    const say = (report: AttachRequest['report']) => void call.push({ report });
    const versions = { protocol: protocolVersion, resultsVersion };
    say({ $case: 'hello', value: Hello.fromPartial({ nodeId, name: nodeId, ...versions, device, creditBytes: 1 }) });
    return { call, errors, say };
  };
  return { clock, dispatcher, attach };
}

test('a node that falls silent is dropped, one that reports in time is not', async (t) => {
  const { clock, dispatcher, attach } = await serve(t);
  const [silent, alive] = ['silent', 'alive'].map((nodeId) => attach(nodeId, (_order, _encoding, taken) => taken()));
  await turns();
  assert.equal(dispatcher.view.nodes().length, 2);
  while (clock.monotonicMs() < 11_000) {
    alive!.say({ $case: 'heartbeat', value: {} });
    await turns();
    clock.step();
  }
  const details = 'The node was silent for more than 10000 ms';
  assert.deepEqual([silent!.errors, alive!.errors], [[{ code: status.UNAVAILABLE, details }], []]);
  assert.deepEqual(
    dispatcher.view.nodes().map(({ hello }) => hello.nodeId),
    ['alive'],
  );
});

test('nothing piles up for a node that reports but does not read', async (t) => {
  const { dispatcher, attach } = await serve(t);
  const { call, say } = attach('deaf', () => {});
  for (let i = 0; i < 10_000; i++) say({ $case: i % 2 ? 'heartbeat' : 'draining', value: {} });
  await eventually('all that it says to be read', () => call.readableLength === 0);
  assert.equal(dispatcher.view.nodes().length, 1);
  assert.ok(call.writableLength <= call.writableHighWaterMark, `${call.writableLength} orders wait`);
});

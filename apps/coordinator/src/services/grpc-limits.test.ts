import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { JobSpec, JobsClient, maxMessageBytes } from '@halogrid/proto';
import { type ConnectionLimits, defaultConnectionLimits } from '@halogrid/service';
import { createLog } from '@halogrid/service/log';
import { eventually, within } from '@halogrid/testing';
import { startCoordinator } from '../coordinator.ts';
import { testConfig } from '../testing/coordinator-stage.ts';

/**
 * How many connections flood the server; HALOGRID_FLOOD=10000 takes some seconds more, and two open files per
 * connection.
 */
const flood = Number(process.env.HALOGRID_FLOOD ?? 800);

interface Started {
  port: number;
  jobs: JobsClient;
  /** Lists jobs over a connection of its own; resolves with the status code. */
  ask(): Promise<status>;
  /** Resolves when such a call has been served. Repeats it: on a busy machine, a call may count as silent. */
  served(): Promise<unknown>;
}

async function start(t: TestContext, limits: Partial<ConnectionLimits> = {}): Promise<Started> {
  const config = testConfig();
  const connections = { ...defaultConnectionLimits, ...limits };
  const coordinator = await startCoordinator({ ...config, connections }, createLog('test', 'silent'));
  const port = coordinator.grpcPort;
  const dial = () =>
    new JobsClient(`127.0.0.1:${port}`, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
  const jobs = dial();
  t.after(async () => {
    jobs.close();
    await coordinator.close();
  });
  const ask = async () => {
    const client = dial();
    const code = await codeOf((answer) => client.list({ states: [] }, answer));
    client.close();
    return code;
  };
  const served = () => eventually('a call to be served', async () => (await ask()) === status.OK);
  return { port, jobs, ask, served };
}

const codeOf = (call: (answer: (error: ServiceError | null) => void) => void): Promise<status> =>
  new Promise((resolve) => call((error) => resolve(error?.code ?? status.OK)));

function dialRaw(t: TestContext, port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  return socket.on('error', () => {}).resume();
}

test('clients that say nothing, or half of a greeting, are let go, and a call on the same port is served', async (t) => {
  const { port, served } = await start(t, { speakWithinMs: 500 });
  const silent = Array.from({ length: 50 }, (_, i) => {
    const socket = dialRaw(t, port);
    if (i % 2) socket.write('PRI * HTTP/2.0\r\n');
    return within('a connection to be closed', once(socket, 'close'));
  });
  await served();
  await Promise.all(silent);
  await served();
});

test('a client that only greets, and answers pings, is let go', async (t) => {
  const { port, served } = await start(t, { speakWithinMs: 500 });
  const session = connectHttp2(`http://127.0.0.1:${port}`).on('error', () => {});
  await within('the connection to be closed', once(session, 'close'));
  await served();
});

test(`${flood} connections that say nothing leave room for callers`, async (t) => {
  const { port, jobs, ask } = await start(t, { maxConnections: Math.min(1_000, flood / 2) });
  assert.equal(await codeOf((answer) => jobs.list({ states: [] }, answer)), status.OK);
  for (let opened = 0; opened < flood; opened += 100) {
    await Promise.all(Array.from({ length: 100 }, () => once(dialRaw(t, port), 'connect')));
    if (opened % 400 === 0) assert.equal(await ask(), status.OK);
  }
  assert.equal(await ask(), status.OK);
  // The earlier connection was not closed.
  assert.equal(jobs.getChannel().getConnectivityState(false), 2);
  assert.equal(await codeOf((answer) => jobs.list({ states: [] }, answer)), status.OK);
});

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const frame = (length: number, type: number, stream: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
const settings = frame(0, 4, 0, Buffer.alloc(0));
for (const [name, bytes] of [
  ['HTTP/1.1', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
  ['random bytes', Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 167 + 13) % 251))],
  ['TLS on a port without it', Buffer.from('160301020001000001fc0303', 'hex')],
  ['a frame that announces 16 MB', Buffer.concat([preface, settings, frame(0xffffff, 0, 1, Buffer.alloc(1024))])],
  ['headers that are not HPACK', Buffer.concat([preface, settings, frame(64, 1, 1, Buffer.alloc(64, 0xff))])],
  ['settings of a broken length', Buffer.concat([preface, frame(5, 4, 0, Buffer.alloc(5))])],
  ['data of a stream that was not opened', Buffer.concat([preface, settings, frame(8, 0, 7, Buffer.alloc(8))])],
] as const) {
  test(`${name} on the port: the connection is closed, others are served`, async (t) => {
    const { port, jobs, served } = await start(t, { speakWithinMs: 1_000 });
    const socket = dialRaw(t, port);
    socket.write(bytes);
    await within('the connection to be closed', once(socket, 'close'));
    await served();
    assert.equal(await codeOf((answer) => jobs.list({ states: [] }, answer)), status.OK);
  });
}

test('a message above the limit is RESOURCE_EXHAUSTED, and the connection goes on', async (t) => {
  const { jobs } = await start(t);
  const spec = JobSpec.fromPartial({ sources: ['x'.repeat(maxMessageBytes)] });
  const request = { spec, nameOutByJob: false };
  assert.equal(await codeOf((answer) => jobs.submit(request, answer)), status.RESOURCE_EXHAUSTED);
  assert.equal(await codeOf((answer) => jobs.list({ states: [] }, answer)), status.OK);
});

test('metadata of a megabyte is refused, and others are served', async (t) => {
  const { jobs, ask } = await start(t);
  const metadata = new Metadata();
  for (let i = 0; i < 16; i++) metadata.set(`x-${i}`, 'x'.repeat(65_536));
  assert.notEqual(await codeOf((answer) => jobs.list({ states: [] }, metadata, answer)), status.OK);
  assert.equal(await ask(), status.OK);
});

test('calls beyond 100 of one connection wait for their turn, and other connections are served', async (t) => {
  const { port, ask } = await start(t);
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  t.after(() => session.destroy());
  const [remote] = await once(session, 'remoteSettings');
  assert.equal(remote.maxConcurrentStreams, 100);
  const headers = { ':method': 'POST', ':path': '/halogrid.v1.Nodes/Attach', 'content-type': 'application/grpc' };
  const streams = Array.from({ length: 100 }, () => session.request(headers).on('error', () => {}));
  assert.equal(await ask(), status.OK);
  for (const stream of streams) stream.close();
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js';
import { JobState, JobStatus, JobsService, type WatchRequest, type WatchResponse } from '@halogrid/proto';
import { createClientSecurity } from '@halogrid/service';
import { writeCoordinatorFile } from '@halogrid/service/coordinator-file';
import { eventually, freePort, within } from '@halogrid/testing';
import { grpcTransport } from './coordinator-client.ts';

const security = createClientSecurity({}, {});

/** Port 9 is the discard service: nothing listens there. */
const nobody = '127.0.0.1:9';

/** A coordinator that has jobs with its own name, and reports the statuses that the test sets. */
async function startCoordinator(t: TestContext, name: string, port = 0) {
  const server = new Server();
  const watchers: ServerWritableStream<WatchRequest, WatchResponse>[] = [];
  server.addService(JobsService, {
    list: (_call: unknown, answer: (error: null, response: object) => void) => {
      answer(null, { jobs: [JobStatus.create({ jobId: name })], leftOut: 0 });
    },
    watch: (call: ServerWritableStream<WatchRequest, WatchResponse>) => {
      watchers.push(call);
      call.write({ job: JobStatus.create({ jobId: name, state: JobState.RUNNING }) });
    },
  });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, found) => {
      if (error) reject(error);
      else resolve(found);
    });
  });
  const kill = () => server.forceShutdown();
  t.after(kill);
  const endStreams = () => {
    for (const call of watchers.splice(0)) call.end();
  };
  const complete = () => {
    for (const call of watchers) call.write({ job: JobStatus.create({ jobId: name, state: JobState.COMPLETE }) });
    endStreams();
  };
  return { address: `127.0.0.1:${bound}`, port: bound, kill, complete, endStreams };
}

/** Accepts connections and sends nothing, like a stopped process, until it is told to forward everything to a port. */
async function startSilent(t: TestContext): Promise<{ address: string; passTo(port: number): void }> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
    return socket;
  };
  const { promise, resolve: passTo } = Promise.withResolvers<number>();
  const server = createServer((socket) => {
    keep(socket);
    void promise.then((port) => socket.pipe(keep(connect(port, '127.0.0.1'))).pipe(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, passTo };
}

const namesOf = async (address: string): Promise<string[]> => {
  const client = grpcTransport(address, security);
  try {
    return (await client.jobs({ states: [], limit: 0 })).jobs.map(({ jobId }) => jobId);
  } finally {
    client.close();
  }
};

test('the address that serves is asked, wherever it stands in the list', async (t) => {
  const { address } = await startCoordinator(t, 'leader');
  const { address: silent } = await startSilent(t);
  for (const list of [address, `${nobody},${address}`, `${address},${nobody}`, `${silent},${nobody},${address}`]) {
    assert.deepEqual(await namesOf(list), ['leader'], list);
  }
});

test('a single address without an answer is reported at once', async () => {
  await assert.rejects(namesOf(nobody), { message: /^No coordinator answers at 127\.0\.0\.1:9: is one running there/ });
});

test('the client waits for a coordinator that never greets as long as its patience says', async (t) => {
  const silent = await startSilent(t);
  const ask = (withinMs: number) => {
    const client = grpcTransport(silent.address, security, { patience: { withinMs, isAskedAgain: false } });
    t.after(() => client.close());
    return client.jobs({ states: [], limit: 0 });
  };
  const patient = ask(600_000);
  await assert.rejects(ask(600), { message: /accepts connections and says nothing: / });
  const { port } = await startCoordinator(t, 'leader');
  silent.passTo(port);
  assert.equal((await within('the answer to who still waits', patient)).jobs[0]?.jobId, 'leader');
});

test('wrong lists are wrong usage', () => {
  for (const list of ['', 'a:1,', 'a:1,b', 'a:0', 'a:1;b:2']) {
    assert.throws(() => grpcTransport(list, security), {
      name: 'UsageError',
      message: /for --coordinator but received '/,
    });
  }
});

test('watching continues with the next leader when the leader is gone', async (t) => {
  const first = await startCoordinator(t, 'first');
  const standby = await freePort();
  const client = grpcTransport(`${first.address},127.0.0.1:${standby}`, security);
  t.after(() => client.close());
  const job = client.watch('job');
  assert.equal((await job.next()).value?.jobId, 'first');
  first.kill();
  const next = job.next();
  const second = await startCoordinator(t, 'second', standby);
  assert.equal((await next).value?.jobId, 'second');
  second.complete();
  assert.equal((await job.next()).value?.state, JobState.COMPLETE);
  assert.equal((await job.next()).done, true);
});

test('watching continues with the coordinator that the file names next, however the first one ended', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-client-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'coordinator');
  const notes: string[] = [];
  const client = grpcTransport({ file, note: (sentence) => notes.push(sentence) }, security);
  t.after(() => client.close());
  const job = client.watch('job');
  const begun = job.next();
  await eventually('a note', () => notes.length > 0);
  const first = await startCoordinator(t, 'first');
  await writeCoordinatorFile(file, { host: '127.0.0.1', grpc: first.port, http: 1 });
  assert.equal((await begun).value?.jobId, 'first');
  first.kill();
  const next = job.next();
  await eventually('a second note', () => notes.length > 1);
  const second = await startCoordinator(t, 'second');
  await writeCoordinatorFile(file, { host: '127.0.0.1', grpc: second.port, http: 1 });
  assert.equal((await next).value?.jobId, 'second');
  assert.deepEqual(notes, [
    `Waiting for a coordinator to write '${file}' (--coordinator-file).`,
    `Nobody answers at ${first.address}, which '${file}' names; waiting for a coordinator.`,
  ]);
});

test('a client whose wait for a file is stopped says so', async () => {
  const stopped = AbortSignal.abort();
  const client = grpcTransport({ file: join(tmpdir(), 'no-such-file'), note: () => {}, signal: stopped }, security);
  await assert.rejects(client.nodes(), /^Error: Stopped before a coordinator had written '/);
});

test('a stream that ends before the job is opened again', async (t) => {
  const { address, endStreams, complete } = await startCoordinator(t, 'leader');
  const client = grpcTransport(address, security);
  t.after(() => client.close());
  const job = client.watch('job');
  await job.next();
  endStreams();
  assert.equal((await job.next()).value?.state, JobState.RUNNING);
  complete();
  assert.equal((await job.next()).value?.state, JobState.COMPLETE);
});

test('the client reports that every address is dialled in the wrong way, although it may wait for a standby', async (t) => {
  const servers = [createHttpServer(), createHttpServer()].map((server) => server.listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const [first, second] = servers.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.after(() => servers.forEach((server) => void server.close()));
  const forLong = { withinMs: 600_000, isAskedAgain: true };
  const client = grpcTransport(`${first},${second}`, security, { patience: forLong });
  t.after(() => client.close());
  await assert.rejects(within('why no address serves', client.jobs({ states: [], limit: 0 })), (error: Error) => {
    for (const address of [first, second]) assert.match(error.message, new RegExp(`at ${address} speaks HTTP, `));
    return true;
  });
});

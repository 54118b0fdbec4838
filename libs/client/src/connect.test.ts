import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { connect } from './connect.ts';
import { HalogridError, JobError } from './errors.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const job = (state: string, more: object = {}) => ({
  job: { jobId: 'a-job', state: `JOB_STATE_${state}`, spec: { sources: [] }, reasons: [], ...more },
});
const event = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;

/** A server that gives one answer after another, and records requests as METHOD PATH. */
async function serve(t: TestContext, ...answers: Answer[]) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const answer = answers.shift();
    if (answer) answer(request, response);
    else response.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const answer =
  (status: number, body: object): Answer =>
  (_, response) =>
    response.writeHead(status).end(JSON.stringify(body));

test('a job is followed across a broken connection and an unreachable coordinator', async (t) => {
  const { address, asked } = await serve(
    t,
    answer(200, job('PENDING')),
    (_, response) => response.write(event(job('RUNNING')), () => response.destroy()),
    answer(503, { error: 'Another coordinator leads', code: 'UNAVAILABLE' }),
    (_, response) => response.end(event(job('FAILED', { error: 'the disk is gone' }))),
  );
  const found = await connect(address).job('a-job');
  const states: string[] = [];
  for await (const { state } of found) states.push(state);
  assert.deepEqual(states, ['JOB_STATE_RUNNING', 'JOB_STATE_FAILED']);
  assert.equal(asked.at(-1), 'GET /api/v1/jobs/a-job/watch');
  await assert.rejects(found.result(), (error) => {
    assert.ok(error instanceof JobError);
    assert.deepEqual([error.code, error.message], ['JOB_FAILED', 'Job a-job failed: the disk is gone']);
    return true;
  });
});

test('a submitted job is sent as JSON with the token, and a limit comes back in the form of messages', async (t) => {
  let sent: unknown;
  const { address, asked } = await serve(t, async (request, response) => {
    sent = [request.headers.authorization, request.headers['content-type'], await json(request)];
    answer(200, job('CANCELLED', { spec: { sources: ['file:///a'], maxQuarantined: { inputs: 3 } } }))(
      request,
      response,
    );
  });
  const request = { sources: ['/a'], maxQuarantined: { inputs: 3 } };
  const submitted = await connect(`${address}/`, { token: () => 'secret' }).submit(request);
  assert.deepEqual(sent, ['Bearer secret', 'application/json', request]);
  assert.deepEqual(asked, ['POST /api/v1/jobs']);
  assert.deepEqual(submitted.status.spec?.maxQuarantined, { limit: { $case: 'inputs', value: 3 } });
  assert.equal(submitted.page, `${address}/jobs/a-job`);
  await assert.rejects(submitted.result(), { code: 'JOB_CANCELLED' });
});

const refusals: [number, object | string, Partial<HalogridError>][] = [
  [
    400,
    { error: 'Expected x', code: 'INVALID_ARGUMENT', field: 'grid.rows' },
    { code: 'INVALID_ARGUMENT', field: 'grid.rows', message: 'Expected x' },
  ],
  [401, { error: 'Expected a token' }, { code: 'UNAUTHENTICATED', message: 'Expected a token' }],
  [502, '<html>Bad gateway\n', { code: 'UNAVAILABLE' }],
];

for (const [status, body, expected] of refusals) {
  test(`${status} with ${JSON.stringify(body)} is ${expected.code}`, async (t) => {
    const { address } = await serve(t, (_, response) =>
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body)),
    );
    await assert.rejects(connect(address).nodes(), { name: 'HalogridError', ...expected });
  });
}

test('if no server answers, the error names the address', async () => {
  // Port 9 is for the discard service, which is practically never running.
  await assert.rejects(connect('http://127.0.0.1:9').job('x'), (error) => {
    assert.ok(error instanceof HalogridError && error.code === 'UNAVAILABLE');
    assert.match(error.message, /^No coordinator answers at http:\/\/127\.0\.0\.1:9: /);
    return true;
  });
});

test('an address that speaks gRPC is told apart from one without a server', async (t) => {
  const server = createSocketServer((socket) => socket.end(Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0]))).listen(
    0,
    '127.0.0.1',
  );
  t.after(() => server.close());
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await assert.rejects(connect(address).nodes(), { code: 'UNAVAILABLE', message: /speaks no HTTP.*of its --http/ });
});

test('jobs are asked for by states and time', async (t) => {
  const { address, asked } = await serve(t, answer(200, { jobs: [], leftOut: 2 }));
  const { leftOut } = await connect(address).jobs({ state: ['running', 'failed'], since: new Date(0), limit: 5 });
  assert.equal(leftOut, 2);
  assert.deepEqual(asked, ['GET /api/v1/jobs?limit=5&state=running&state=failed&since=1970-01-01T00%3A00%3A00.000Z']);
});

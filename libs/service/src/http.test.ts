import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { within } from '@halogrid/testing';
import { defaultHttpLimits, startHttp } from './http.ts';
import { createRegistry, Gauge } from './metrics.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses!.some((at) => at.address === '::1'));

test('health, readiness, metrics and further paths are served, others are not found', async (t) => {
  let reason: string | undefined = 'Not attached yet';
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    registry: createRegistry('node'),
    notReady: () => reason,
    route(request, response) {
      if (request.url !== '/mine') return false;
      response.end('mine');
      return true;
    },
  });
  t.after(() => server.close());
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return { status: response.status, text: await response.text() };
  };

  assert.deepEqual(await get('/healthz'), { status: 200, text: 'ok\n' });
  assert.deepEqual(await get('/readyz'), { status: 503, text: 'Not attached yet\n' });
  reason = undefined;
  assert.equal((await get('/readyz?full')).status, 200);
  assert.match((await get('/metrics')).text, /^halogrid_build_info\{app="node",version="\d+\.\d+\.\d+"\} 1$/m);
  // As Prometheus asks: the first type that it accepts can carry exemplars.
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
  const open = await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers: { accept } });
  assert.match(open.headers.get('content-type')!, /^application\/openmetrics-text; version=1\.0\.0;/);
  assert.match(await open.text(), /^# TYPE process_cpu_seconds counter\n.*\n# EOF\n$/ms);
  assert.equal((await get('/mine')).text, 'mine');
  assert.deepEqual(await get('/other'), { status: 404, text: 'Nothing at /other\n' });
});

test('everyone may read pages, and pages may load nothing from other sites', async (t) => {
  const page = { type: 'text/html; charset=utf-8', body: Buffer.from('<h1>here</h1>') };
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    registry: createRegistry('node'),
    notReady: () => undefined,
    pages: new Map([['/', page]]),
    access: { admit: () => ({ denial: { kind: 'unauthenticated', sentence: 'Expected a token', name: '' } }) },
  });
  t.after(() => server.close());
  const ask = (method: string) => fetch(`http://127.0.0.1:${server.port}/`, { method });

  const response = await ask('GET');
  assert.equal(await response.text(), '<h1>here</h1>');
  assert.equal(response.headers.get('content-type'), page.type);
  assert.match(response.headers.get('content-security-policy')!, /^default-src 'none'/);
  assert.equal(await (await ask('HEAD')).text(), '');
  assert.equal((await ask('POST')).status, 405);
  assert.equal((await fetch(`http://127.0.0.1:${server.port}/metrics`)).status, 401);
});

test('every path is read-only: another method is refused, and changes nothing', async (t) => {
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    registry: createRegistry('node'),
    notReady: () => undefined,
    pages: new Map([['/', { type: 'text/html', body: Buffer.from('here') }]]),
  });
  t.after(() => server.close());
  for (const path of ['/metrics', '/healthz', '/readyz', '/']) {
    const ask = (method: string) => fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const response = await ask(method);
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, HEAD'], `${method} ${path}`);
      assert.equal(await response.text(), `Expected GET or HEAD but received ${method}\n`);
    }
    const head = await ask('HEAD');
    assert.deepEqual([head.status, await head.text()], [200, ''], path);
    assert.equal((await ask('GET')).status, 200);
  }
});

test('a connection that reads no byte of its answer is closed', async (t) => {
  const { promise: answerClosed, resolve: noteClosed } = Promise.withResolvers<void>();
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    registry: createRegistry('node'),
    notReady: () => undefined,
    route(_request, response) {
      response.once('close', noteClosed).end(Buffer.alloc(2 ** 25));
      return true;
    },
    limits: { ...defaultHttpLimits, stalledMs: 200 },
  });
  t.after(() => server.close());
  const socket = connect(server.port, '127.0.0.1').on('error', () => {});
  socket.write('GET /large HTTP/1.1\r\nhost: here\r\n\r\n');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  // Nothing is read before the server has closed the connection; the answer is then cut short.
  await within('the end of an answer that nobody takes', answerClosed);
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  await within('the end of the connection', closed);
  assert.ok(bytes < 2 ** 25, `${bytes} bytes came`);
});

test('a metric that cannot be read gives status 500, and does not end the process', async (t) => {
  const registry = createRegistry('node');
  new Gauge({
    name: 'broken',
    help: 'Breaks.',
    registers: [registry],
    collect() {
      throw new Error('The ledger is closed');
    },
  });
  const server = await startHttp({ host: '127.0.0.1', port: 0, registry, notReady: () => undefined });
  t.after(() => server.close());
  const response = await fetch(`http://127.0.0.1:${server.port}/metrics`);
  assert.deepEqual([response.status, await response.text()], [500, 'The ledger is closed\n']);
});

test('an IPv6 address may be in brackets', { skip: !hasIpv6 && 'this machine has no IPv6' }, async (t) => {
  const server = await startHttp({
    host: '[::1]',
    port: 0,
    registry: createRegistry('node'),
    notReady: () => undefined,
  });
  t.after(() => server.close());
  assert.equal((await fetch(`http://[::1]:${server.port}/healthz`)).status, 200);
});

test('a port that is taken rejects', async (t) => {
  const options = { host: '127.0.0.1', registry: createRegistry('node'), notReady: () => undefined };
  const first = await startHttp({ ...options, port: 0 });
  t.after(() => first.close());
  await assert.rejects(startHttp({ ...options, port: first.port }), {
    message: `Cannot listen on 127.0.0.1:${first.port}: another program listens there (EADDRINUSE); give another address with --http`,
  });
});

test('processes name their cluster if they are given its name', async () => {
  const named = await createRegistry('node', { HALOGRID_CLUSTER: 'archive' }).metrics();
  const series = named.split('\n').filter((line) => line && !line.startsWith('#'));
  assert.ok(series.length > 10);
  for (const line of series) assert.match(line, /[{,]cluster="archive"[,}]/);
  assert.doesNotMatch(await createRegistry('node', {}).metrics(), /cluster=/);
});

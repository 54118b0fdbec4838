import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startHttp } from './http.ts';
import { createRegistry } from './metrics.ts';

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
  assert.equal((await get('/mine')).text, 'mine');
  assert.deepEqual(await get('/other'), { status: 404, text: 'Nothing at /other\n' });
});

test('a port that is taken rejects', async (t) => {
  const options = { host: '127.0.0.1', registry: createRegistry('node'), notReady: () => undefined };
  const first = await startHttp({ ...options, port: 0 });
  t.after(() => first.close());
  await assert.rejects(startHttp({ ...options, port: first.port }), { code: 'EADDRINUSE' });
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startHttp } from '../http.ts';
import { createRegistry } from '../metrics.ts';
import { parseOrigins } from './other-origins.ts';
import { createAccess, createServerSecurity } from './server-security.ts';
import { secretFolder, writeSecret } from './testing/secrets.ts';

const allowed = 'https://tools.example.org';
const reader = 'reader-token-0123456789';

/**
 * A server that needs a token and allows the pages of one site, and a function that asks it from a page of `origin`.
 */
async function setServer(t: TestContext, allowedOrigins: readonly string[]) {
  const tokens = writeSecret(secretFolder(t), 'tokens', `read page ${reader}\n`);
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    registry: createRegistry('node'),
    notReady: () => undefined,
    allowedOrigins,
    access: createAccess(createServerSecurity({ tokens }), assert.fail),
    route: (_request, response) => Boolean(response.end('api')),
  });
  t.after(() => server.close());
  return async (origin: string, method = 'GET', path = '/api/v1/jobs', headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers: { origin, ...headers } });
    await response.text();
    return [response.status, response.headers.get('access-control-allow-origin'), response.headers.get('vary')];
  };
}

const asksFirst = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };

test('only pages of the named site may ask, and they need a token too', async (t) => {
  const ask = await setServer(t, [allowed]);
  const token = { authorization: `Bearer ${reader}` };
  assert.deepEqual(await ask(allowed, 'OPTIONS', undefined, asksFirst), [204, allowed, 'origin']);
  assert.deepEqual(await ask(allowed, 'GET', undefined, token), [200, allowed, 'origin']);
  // The page may read why it was refused.
  assert.deepEqual(await ask(allowed), [401, allowed, 'origin']);
  for (const other of ['http://tools.example.org', `${allowed}:8443`, `${allowed}.evil.example`, 'null', 'https://x']) {
    assert.deepEqual(await ask(other, 'OPTIONS', undefined, asksFirst), [401, null, 'origin'], other);
    assert.deepEqual(await ask(other, 'GET', undefined, token), [200, null, 'origin'], other);
  }
  assert.deepEqual(await ask(allowed, 'GET', '/metrics', token), [200, null, null]);
});

test('if no site is named, no page of another site may read anything', async (t) => {
  const ask = await setServer(t, []);
  assert.deepEqual(await ask(allowed, 'OPTIONS', undefined, asksFirst), [401, null, null]);
  assert.deepEqual(await ask(allowed, 'GET', undefined, { authorization: `Bearer ${reader}` }), [200, null, null]);
});

test('an origin is written as a browser writes it', () => {
  const origins = [allowed, 'http://localhost:3000', 'http://[::1]:3000', 'https://example.org:8443'];
  assert.deepEqual(parseOrigins('--allow-origin', origins), origins);
  for (const wrong of [
    '*',
    'null',
    '',
    'example.org',
    `${allowed}/`,
    `${allowed}/page`,
    'https://EXAMPLE.org',
    'file:///',
  ]) {
    assert.throws(
      () => parseOrigins('--allow-origin', [wrong]),
      { name: 'UsageError', message: /--allow-origin/ },
      wrong,
    );
  }
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request } from 'node:https';
import { type TestContext, test } from 'node:test';
import { type HttpServerOptions, startHttp } from './http.ts';
import { createRegistry } from './metrics.ts';
import { createAccess, createServerSecurity, createTls } from './security/server-security.ts';
import { makeCertificates, secretFolder, writeSecret } from './security/testing/secrets.ts';

const reader = 'reader-token-0123456789';
const node = 'node-token-0123456789';

async function serve(t: TestContext, options: Partial<HttpServerOptions>) {
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    registry: createRegistry('node'),
    notReady: () => undefined,
    route: (_request, response) => Boolean(response.end('api')),
    ...options,
  });
  t.after(() => server.close());
  return server.port;
}

test('without tokens, a host name that another site may have pointed here is refused for each path and method', async (t) => {
  const openRoute: HttpServerOptions['openRoute'] = (request, response) =>
    request.url === '/judges-itself' && Boolean(response.end('open'));
  const pages = new Map([['/', { type: 'text/html', body: Buffer.from('page') }]]);
  const port = await serve(t, { pages, openRoute });
  const statusOf = (method: string, path: string, host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const asked = requestHttp({ port, method, path, headers: { host } }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode!));
      });
      asked.once('error', reject).end();
    });
  for (const path of ['/', '/healthz', '/readyz', '/metrics', '/api/v1/folder?path=/root', '/nothing']) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
      assert.equal(await statusOf(method, path, 'rebound.evil.example:9464'), 403, `${method} ${path}`);
    }
    for (const host of [`127.0.0.1:${port}`, 'localhost', 'coordinator:9464']) {
      assert.equal(await statusOf('GET', path, host), 200, `${path} at ${host}`);
    }
  }
  assert.equal(await statusOf('GET', '/judges-itself', 'grid.example.org'), 200);
  const tokens = writeSecret(secretFolder(t), 'tokens', `read prometheus ${reader}\n`);
  const guarded = await serve(t, { access: createAccess(createServerSecurity({ tokens }), assert.fail) });
  const headers = { host: 'console.example.org', authorization: `Bearer ${reader}` };
  const asked = requestHttp({ port: guarded, path: '/metrics', headers }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  assert.equal(response.resume().statusCode, 200);
});

test('with tokens, everything but the probes needs a token with the role read', async (t) => {
  const tokens = writeSecret(secretFolder(t), 'tokens', `read prometheus ${reader}\nnode rack ${node}\n`);
  const access = createAccess(createServerSecurity({ tokens }), assert.fail);
  const port = await serve(t, { access });
  const statusOf = async (path: string, token?: string) => {
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    await response.text();
    return [response.status, response.headers.get('www-authenticate')];
  };
  const challenge = 'Bearer realm="halogrid"';
  for (const path of ['/healthz', '/readyz', '/healthz?x']) assert.deepEqual(await statusOf(path), [200, null]);
  for (const path of ['/metrics', '/api/v1/jobs', '/', '//healthz', '/healthz/../metrics', '/%68ealthz/x']) {
    assert.deepEqual(await statusOf(path), [401, challenge], path);
    assert.deepEqual(await statusOf(path, 'wrong-token-0123456789'), [401, challenge], path);
    assert.deepEqual(await statusOf(path, node), [403, `${challenge}, error="insufficient_scope"`], path);
    assert.deepEqual(await statusOf(path, reader), [200, null], path);
  }
});

test('if a process has its own token, its callers need the same', async (t) => {
  const own = { HALOGRID_TOKEN: 'own-token-0123456789' };
  const security = createServerSecurity({ ownToken: true }, own);
  const port = await serve(t, { access: createAccess(security, assert.fail) });
  const statusOf = async (path: string, token?: string) => {
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
    return (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status;
  };
  assert.equal(await statusOf('/healthz'), 200);
  assert.equal(await statusOf('/metrics'), 401);
  assert.equal(await statusOf('/metrics', `${own.HALOGRID_TOKEN}0`), 401);
  assert.equal(await statusOf('/metrics', own.HALOGRID_TOKEN), 200);
  assert.throws(() => createServerSecurity({ ownToken: true }, {}), /^UsageError: Expected a token in HALOGRID_TOKEN/);
});

test('with an authority, everything but the probes needs a certificate that it signed', async (t) => {
  const folder = secretFolder(t);
  const ours = makeCertificates(folder, 'ours');
  const theirs = makeCertificates(folder, 'theirs');
  const tls = createTls(createServerSecurity({ tlsCert: ours.cert, tlsKey: ours.key, tlsCa: ours.ca }), assert.fail);
  const port = await serve(t, { tls });
  const ca = readFileSync(ours.ca);
  const statusOf = (path: string, own?: { cert: string; key: string }) =>
    new Promise<number | undefined>((resolve, reject) => {
      const pair = own && { cert: readFileSync(own.cert), key: readFileSync(own.key) };
      const options = { host: '127.0.0.1', port, path, ca, ...pair, agent: false as const };
      const call = request(options, (response) => resolve(response.resume().statusCode));
      call.on('error', reject).end();
    });
  assert.equal(await statusOf('/healthz'), 200);
  assert.equal(await statusOf('/metrics'), 403);
  assert.equal(await statusOf('/metrics', theirs), 403);
  assert.equal(await statusOf('/metrics', ours), 200);
});

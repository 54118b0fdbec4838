import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openInputFile } from '../files/input-file.ts';
import { listSources } from '../listing/sources.ts';
import { sendFile, startServer, type TestServer } from '../testing/servers.ts';
import { setEnvironment, temporaryFolder } from '../testing/temporary-files.ts';
import { azSettings, azUrl } from './az-settings.ts';
import { signAz } from './az-sign.ts';

// A small Azure of ours, because no service can be asked here: it checks signatures by itself. No process.

const key = Buffer.from('the key of the account').toString('base64');

interface TestAzure extends TestServer {
  blobs: Map<string, Buffer>;
  tokens: number;
  failures: number[];
}

type Right = 'key' | 'sas' | 'token' | 'public';

const names = [
  'AZURE_STORAGE_CONNECTION_STRING',
  'AZURE_STORAGE_KEY',
  'AZURE_STORAGE_SAS_TOKEN',
  'AZURE_TENANT_ID',
  'AZURE_CLIENT_ID',
  'AZURE_CLIENT_SECRET',
  'AZURE_FEDERATED_TOKEN_FILE',
  'AZURE_AUTHORITY_HOST',
  'IDENTITY_ENDPOINT',
  'IDENTITY_HEADER',
];

/** One address for blobs, tokens and identities. Blobs are given to those that show `right`. */
async function azure(t: TestContext, right: Right): Promise<TestAzure> {
  const state = { blobs: new Map<string, Buffer>(), tokens: 0, failures: [] as number[] };
  const server = await startServer(async (request, response) => {
    const url = new URL(request.url!, 'http://host');
    const refuse = (status: number, code: string) => void response.writeHead(status, { 'x-ms-error-code': code }).end();
    if (url.pathname === '/identity' || url.pathname === '/tenant-1/oauth2/v2.0/token') {
      let body = '';
      for await (const chunk of request) body += chunk;
      const form = new URLSearchParams(body);
      const isRight =
        (request.headers['x-identity-header'] === 'known' &&
          url.searchParams.get('resource') === 'https://storage.azure.com/') ||
        (form.get('scope') === 'https://storage.azure.com/.default' &&
          (form.get('client_secret') === 'secret' || form.get('client_assertion') === 'signed'));
      const token = { access_token: `token-${state.tokens + 1}`, expires_in: 86_400 };
      if (isRight) state.tokens++;
      return void response
        .writeHead(isRight ? 200 : 401)
        .end(JSON.stringify(isRight ? token : { error: 'invalid_client' }));
    }
    const failure = state.failures.shift();
    if (failure) return refuse(failure, 'ServerBusy');
    if (!isAllowed(request, url, right, state.tokens)) return refuse(403, 'AuthenticationFailed');
    const [, account, container, ...parts] = url.pathname.split('/').map(decodeURIComponent);
    if (account !== 'account1') return refuse(400, 'InvalidUri');
    if (container !== 'pictures') return refuse(404, 'ContainerNotFound');
    if (url.searchParams.get('comp') === 'list') return void response.end(listBlobs([...state.blobs.keys()], url));
    const bytes = state.blobs.get(parts.join('/'));
    if (!bytes) return refuse(404, 'BlobNotFound');
    sendFile({ bytes, etag: `"0x${bytes.length}"`, lastModified: changed }, request, response);
  });
  t.after(() => server.close());
  setEnvironment(t, {
    ...Object.fromEntries(names.map((name) => [name, undefined])),
    AZURE_STORAGE_ACCOUNT: 'account1',
    AZURE_STORAGE_SERVICE_ENDPOINT: `${server.origin}/account1`,
  });
  return Object.assign(state, server);
}

const changed = 'Thu, 01 Jan 2026 00:00:00 GMT';

function isAllowed(request: IncomingMessage, url: URL, right: Right, tokens: number): boolean {
  const { authorization } = request.headers;
  if (right === 'public') return true;
  if (right === 'sas') return url.searchParams.get('sig') === 'a+b/c=' && authorization === undefined;
  if (right === 'token') return tokens > 0 && authorization === `Bearer token-${tokens}`;
  return authorization !== undefined && authorization === `SharedKey account1:${signatureOf(request, url)}`;
}

/** The signature that a GET must have, from the specification of Shared Key. */
function signatureOf({ headers, method }: IncomingMessage, url: URL): string {
  const own = Object.keys(headers).filter((name) => name.startsWith('x-ms-'));
  assert.ok(own.includes('x-ms-date') && own.includes('x-ms-version'));
  const date = String(headers['x-ms-date']);
  assert.equal(new Date(date).toUTCString(), date);
  let text = `${method}\n`;
  text += '\n\n\n\n\n\n';
  for (const name of ['if-modified-since', 'if-match', 'if-none-match', 'if-unmodified-since', 'range']) {
    text += `${headers[name] ?? ''}\n`;
  }
  for (const name of own.sort()) text += `${name}:${headers[name]}\n`;
  text += `/account1${url.pathname}`;
  for (const name of [...new Set(url.searchParams.keys())].sort()) {
    text += `\n${name}:${url.searchParams.getAll(name).sort().join(',')}`;
  }
  return createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');
}

/** List Blobs with a prefix, a delimiter and pages of two. */
function listBlobs(keys: string[], { searchParams }: URL): string {
  const prefix = searchParams.get('prefix') ?? '';
  const found = new Set<string>();
  for (const key of keys.filter((one) => one.startsWith(prefix)).sort()) {
    const end = key.indexOf('/', prefix.length);
    found.add(searchParams.has('delimiter') && end >= 0 ? key.slice(0, end + 1) : key);
  }
  const from = Number(searchParams.get('marker') ?? 0);
  const escaped = (name: string) => name.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const entries = [...found].slice(from, from + 2).map((name) => {
    if (name.endsWith('/')) return `<BlobPrefix><Name>${escaped(name)}</Name></BlobPrefix>`;
    const facts = `<Last-Modified>${changed}</Last-Modified><Etag>0x9</Etag><Content-Length>9</Content-Length>`;
    return `<Blob><Name>${escaped(name)}</Name><Properties>${facts}</Properties></Blob>`;
  });
  const next = from + 2 < found.size ? from + 2 : '';
  return `<?xml version="1.0"?><EnumerationResults><Blobs>${entries.join('')}</Blobs><NextMarker>${next}</NextMarker></EnumerationResults>`;
}

async function contentsOf(uri: string): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for await (const source of listSources(uri)) {
    const file = await openInputFile(source.uri);
    found.push([source.uri, (await file.readAll()).toString()]);
    await file.close();
  }
  return found;
}

const refusal = (uri: string): Promise<string> =>
  openInputFile(uri).then(
    () => 'opened',
    (error: Error) => `${error.name}: ${error.message}`,
  );

test('a container is listed and read with the key of its account', async (t) => {
  const server = await azure(t, 'key');
  setEnvironment(t, { AZURE_STORAGE_KEY: key });
  for (const name of ['a/10.jpg', 'a/2.jpg', 'a/b c/é+1&.png', 'a/notes.txt', 'z.jpg']) {
    server.blobs.set(name, Buffer.from(`at ${name}`));
  }
  const expected = ['a/2.jpg', 'a/10.jpg', 'a/b c/é+1&.png'].map((name) => [`az://pictures/${name}`, `at ${name}`]);
  assert.deepEqual(await contentsOf('az://pictures/a'), expected);
  assert.deepEqual(await contentsOf('az://pictures/*/1*.jpg'), [expected[1]]);
  // A blob of several parts is read by conditions and ranges, which are signed, too.
  const large = 'large '.repeat(2 ** 18);
  server.blobs.set('large.jpg', Buffer.from(large));
  assert.equal((await contentsOf('az://pictures/large.jpg'))[0]![1], large);
});

test('the same by a connection string, a shared access signature, identities, and for all', async (t) => {
  const variables: [Right, (origin: string) => Record<string, string>][] = [
    [
      'key',
      (origin) => ({
        AZURE_STORAGE_CONNECTION_STRING: `AccountName=account1;AccountKey=${key};BlobEndpoint=${origin}/account1;`,
      }),
    ],
    ['sas', () => ({ AZURE_STORAGE_SAS_TOKEN: '?sv=2022-11-02&sig=a%2Bb%2Fc%3D' })],
    ['token', (origin) => ({ IDENTITY_ENDPOINT: `${origin}/identity`, IDENTITY_HEADER: 'known' })],
    [
      'token',
      (origin) => ({
        AZURE_TENANT_ID: 'tenant-1',
        AZURE_CLIENT_ID: 'c',
        AZURE_CLIENT_SECRET: 'secret',
        AZURE_AUTHORITY_HOST: origin,
      }),
    ],
    ['public', () => ({})],
  ];
  for (const [right, set] of variables) {
    const server = await azure(t, right);
    server.blobs.set('a.jpg', Buffer.from('a'));
    server.blobs.set('b/c.jpg', Buffer.from('c'));
    setEnvironment(t, set(server.origin));
    assert.equal((await contentsOf('az://pictures')).length, 2, right);
    assert.ok(server.tokens <= 1, 'a token is asked for once');
  }
  const server = await azure(t, 'token');
  const file = join(await temporaryFolder(t), 'token');
  await writeFile(file, 'signed\n');
  server.blobs.set('a.jpg', Buffer.from('a'));
  const workload = { AZURE_TENANT_ID: 'tenant-1', AZURE_CLIENT_ID: 'c', AZURE_FEDERATED_TOKEN_FILE: file };
  setEnvironment(t, { ...workload, AZURE_AUTHORITY_HOST: server.origin });
  assert.equal((await contentsOf('az://pictures/a.jpg')).length, 1);
});

test('a busy container is asked again', async (t) => {
  const server = await azure(t, 'public');
  server.blobs.set('a.jpg', Buffer.from('a'));
  server.failures.push(503, 500);
  assert.equal((await contentsOf('az://pictures/a.jpg')).length, 1);
});

test('refusals and wrong settings are named, without a secret', async (t) => {
  const server = await azure(t, 'key');
  const place = "in the container 'pictures' of the account 'account1'";
  assert.equal(
    await refusal('az://pictures/a.jpg'),
    `InputError: Access to 'a.jpg' ${place} is denied, asked for without credentials: 403 AuthenticationFailed`,
  );
  setEnvironment(t, { AZURE_STORAGE_KEY: Buffer.from('another').toString('base64') });
  assert.equal(
    await refusal('az://pictures/a.jpg'),
    `InputError: Access to 'a.jpg' ${place} is denied: 403 AuthenticationFailed`,
  );
  setEnvironment(t, { AZURE_STORAGE_KEY: key });
  assert.equal(await refusal('az://pictures/a.jpg'), `InputError: There is no 'a.jpg' ${place}: 404 BlobNotFound`);
  assert.equal(
    await refusal('az://other/a.jpg'),
    "InputError: There is no container 'other' in the account 'account1': 404 ContainerNotFound",
  );
  const { host } = new URL(server.origin);
  const client = { AZURE_TENANT_ID: 'tenant-1', AZURE_CLIENT_ID: 'c', AZURE_CLIENT_SECRET: 'wrong secret' };
  setEnvironment(t, { ...client, AZURE_STORAGE_KEY: undefined, AZURE_AUTHORITY_HOST: server.origin });
  assert.equal(
    await refusal('az://pictures/a.jpg'),
    `InputError: The host '${host}' gives no token: 401 invalid_client`,
  );
  setEnvironment(t, { AZURE_STORAGE_ACCOUNT: undefined });
  assert.match(await refusal('az://pictures/a.jpg'), /^InputError: az:\/\/ needs the name of an account: set AZURE_/);
  setEnvironment(t, { AZURE_STORAGE_ACCOUNT: 'Not one!' });
  assert.match(await refusal('az://pictures/a.jpg'), /as the name of the Azure account but it is 'Not one!'$/);
});

test('accounts are at Azure unless an endpoint is named', () => {
  const urlOf = (env: Record<string, string>) => azUrl(azSettings(env), 'c', 'a b/ü.jpg').href;
  assert.equal(urlOf({ AZURE_STORAGE_ACCOUNT: 'abc' }), 'https://abc.blob.core.windows.net/c/a%20b/%C3%BC.jpg');
  const china = 'DefaultEndpointsProtocol=https;AccountName=abc;AccountKey=eA==;EndpointSuffix=core.chinacloudapi.cn';
  assert.equal(
    urlOf({ AZURE_STORAGE_CONNECTION_STRING: china }),
    'https://abc.blob.core.chinacloudapi.cn/c/a%20b/%C3%BC.jpg',
  );
  assert.equal(azSettings({ AZURE_STORAGE_CONNECTION_STRING: china }).key, 'eA==');
});

test('a signature is what openssl makes of the text that Azure names', () => {
  // printf 'GET\n\n\n\n\n\n\n\n\n\n\nbytes=0-0\nx-ms-date:Thu, 01 Jan 2026 00:00:00 GMT\n%s\n/abc/c/a.jpg' \
  //   x-ms-version:2020-10-02 | openssl dgst -sha256 -mac HMAC -macopt key:secret -binary | base64
  const account = { account: 'abc', key: Buffer.from('secret').toString('base64') };
  const url = new URL('https://abc.blob.core.windows.net/c/a.jpg');
  const { authorization } = signAz(url, { range: 'bytes=0-0' }, account, new Date('2026-01-01T00:00:00Z'));
  assert.equal(authorization, 'SharedKey abc:8eX3EMP/oEagizsgMtK2euMWKt4Xk9wX0RLDA6EEeR0=');
});

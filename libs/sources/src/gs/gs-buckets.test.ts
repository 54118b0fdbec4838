import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openInputFile } from '../files/input-file.ts';
import { listSources } from '../listing/sources.ts';
import { listObjects, sendFile, startServer, type TestServer } from '../testing/servers.ts';
import { setEnvironment, temporaryFolder } from '../testing/temporary-files.ts';

// A small Google of ours, because no service can be asked here: it checks tokens and statements by itself. No process.

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

interface TestGoogle extends TestServer {
  objects: Map<string, Buffer>;
  tokens: number;
  /** Statuses of the next answers about objects. */
  failures: number[];
}

/** One address for objects, tokens and metadata. Objects are given to bearers of a token, or with `isPublic` to all. */
async function google(t: TestContext, { isPublic = false } = {}): Promise<TestGoogle> {
  const state = { objects: new Map<string, Buffer>(), tokens: 0, failures: [] as number[] };
  const giveToken = () => JSON.stringify({ access_token: `token-${++state.tokens}`, expires_in: 3600 });
  const server = await startServer(async (request, response) => {
    const url = new URL(request.url!, 'http://host');
    if (url.pathname === '/token') {
      let body = '';
      for await (const chunk of request) body += chunk;
      const form = new URLSearchParams(body);
      const isRight = form.get('refresh_token') === 'kept' || isSigned(form.get('assertion') ?? '');
      return void response.writeHead(isRight ? 200 : 400).end(isRight ? giveToken() : '{"error":"invalid_grant"}');
    }
    if (url.pathname.startsWith('/computeMetadata/')) {
      const isAsked = request.headers['metadata-flavor'] === 'Google';
      return void response.writeHead(isAsked ? 200 : 403).end(giveToken());
    }
    const failure = state.failures.shift();
    if (failure) return void response.writeHead(failure).end('<Error><Code>SlowDown</Code></Error>');
    const isBearer = request.headers.authorization === `Bearer token-${state.tokens}`;
    if (!isBearer && !isPublic) return void response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    const [bucket, ...parts] = url.pathname.slice(1).split('/').map(decodeURIComponent);
    if (bucket !== 'pictures') return void response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
    const key = parts.join('/');
    if (key === '') return void response.end(listObjects([...state.objects], url.searchParams, 2));
    const bytes = state.objects.get(key);
    if (bytes) sendFile({ bytes, etag: `"${bytes.length}"` }, request, response);
    else response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
  });
  t.after(() => server.close());
  const home = await temporaryFolder(t);
  const nothing = ['GOOGLE_APPLICATION_CREDENTIALS', 'GCE_METADATA_HOST', 'NO_GCE_CHECK', 'CLOUDSDK_CONFIG'];
  setEnvironment(t, {
    ...Object.fromEntries(nothing.map((name) => [name, undefined])),
    HOME: home,
    STORAGE_EMULATOR_HOST: server.origin,
  });
  return Object.assign(state, server);
}

/** Whether a statement is one that the account of the test signed for this server. */
function isSigned(assertion: string): boolean {
  const [head = '', body = '', signature = ''] = assertion.split('.');
  if (!verify('RSA-SHA256', Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url')))
    return false;
  const { alg, kid } = JSON.parse(Buffer.from(head, 'base64url').toString());
  const { iss, scope, aud, iat, exp } = JSON.parse(Buffer.from(body, 'base64url').toString());
  const isInTime = Number.isInteger(iat) && exp === iat + 3600;
  const isMeant = alg === 'RS256' && kid === 'key-1' && iss === 'reader@project' && aud.endsWith('/token');
  return isMeant && isInTime && scope === 'https://www.googleapis.com/auth/devstorage.read_only';
}

/** Writes credentials to a file that the environment names. */
async function name(t: TestContext, content: object): Promise<void> {
  const path = join(await temporaryFolder(t), 'key.json');
  await writeFile(path, JSON.stringify(content));
  setEnvironment(t, { GOOGLE_APPLICATION_CREDENTIALS: path });
}

const account = (server: TestServer) => ({
  type: 'service_account',
  client_email: 'reader@project',
  private_key_id: 'key-1',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  token_uri: `${server.origin}/token`,
});

async function contentsOf(uri: string): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for await (const source of listSources(uri)) {
    const file = await openInputFile(source.uri);
    found.push([source.uri, (await file.readAll()).toString()]);
    await file.close();
  }
  return found;
}

test('a bucket is listed and read with the token of a service account, which is asked for once', async (t) => {
  const server = await google(t);
  await name(t, account(server));
  for (const key of ['a/10.jpg', 'a/2.jpg', 'a/b c/é+1.png', 'a/notes.txt', 'z.jpg']) {
    server.objects.set(key, Buffer.from(`at ${key}`));
  }
  const expected = ['a/2.jpg', 'a/10.jpg', 'a/b c/é+1.png'].map((key) => [`gs://pictures/${key}`, `at ${key}`]);
  assert.deepEqual(await contentsOf('gs://pictures/a'), expected);
  assert.deepEqual(await contentsOf('gs://pictures/*/1*.jpg'), [expected[1]]);
  assert.equal(server.tokens, 1);
});

test('a user that gcloud logged in, the metadata server and no account at all', async (t) => {
  const server = await google(t);
  server.objects.set('a.jpg', Buffer.from('a'));
  const user = { type: 'authorized_user', client_id: 'i', client_secret: 's', refresh_token: 'kept' };
  await name(t, { ...user, token_uri: `${server.origin}/token` });
  assert.equal((await contentsOf('gs://pictures/a.jpg')).length, 1);
  const open = await google(t, { isPublic: true });
  open.objects.set('a.jpg', Buffer.from('a'));
  assert.equal((await contentsOf('gs://pictures/a.jpg')).length, 1);
  assert.equal(open.tokens, 0);
});

test('a busy store is asked again', async (t) => {
  const server = await google(t, { isPublic: true });
  server.objects.set('a.jpg', Buffer.from('a'));
  server.failures.push(503, 429);
  assert.equal((await contentsOf('gs://pictures/a.jpg')).length, 1);
});

test('refusals and wrong credentials are named, without a secret', async (t) => {
  const server = await google(t);
  const refusal = (uri: string) =>
    openInputFile(uri).then(
      () => 'opened',
      (error: Error) => `${error.name}: ${error.message}`,
    );
  assert.equal(
    await refusal('gs://pictures/a.jpg'),
    "InputError: Access to 'a.jpg' in the bucket 'pictures' is denied, asked for without credentials: 403 AccessDenied",
  );
  await name(t, account(server));
  assert.equal(
    await refusal('gs://pictures/a.jpg'),
    "InputError: There is no 'a.jpg' in the bucket 'pictures': 404 NoSuchKey",
  );
  assert.equal(await refusal('gs://other/a.jpg'), "InputError: The bucket 'other' does not exist: 404 NoSuchBucket");
  await name(t, { ...account(server), client_email: 'another@project' });
  const { host } = new URL(server.origin);
  assert.equal(
    await refusal('gs://pictures/a.jpg'),
    `InputError: The host '${host}' gives no token: 400 invalid_grant`,
  );
  await name(t, { ...account(server), private_key: 'no key' });
  assert.match(await refusal('gs://pictures/a.jpg'), /^InputError: The file '.*' has no private key that can sign$/);
  await name(t, { type: 'external_account' });
  assert.match(
    await refusal('gs://pictures/a.jpg'),
    /credentials of the type 'external_account': service_account and /,
  );
  setEnvironment(t, { GOOGLE_APPLICATION_CREDENTIALS: '/nowhere/key.json' });
  assert.match(await refusal('gs://pictures/a.jpg'), /GOOGLE_APPLICATION_CREDENTIALS names cannot be read \(ENOENT\)$/);
});

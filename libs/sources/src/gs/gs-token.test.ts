import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startServer } from '../testing/servers.ts';
import { temporaryFolder } from '../testing/temporary-files.ts';
import { findGsToken } from './gs-token.ts';

// Requests to a server of this process: milliseconds.

test('without a named file, the login of gcloud comes before the account of the machine', async (t) => {
  const home = await temporaryFolder(t);
  const asked: string[] = [];
  const server = await startServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['metadata-flavor'] ?? ''}`.trim());
    response.end(JSON.stringify({ access_token: `${asked.length}`, expires_in: 3600 }));
  });
  t.after(() => server.close());
  const env = { HOME: home, GCE_METADATA_HOST: new URL(server.origin).host };
  assert.equal(await findGsToken(env), '1');
  assert.equal(await findGsToken(env), '1');
  assert.deepEqual(asked, ['GET /computeMetadata/v1/instance/service-accounts/default/token Google']);
  const folder = join(home, 'gcloud');
  await mkdir(folder, { recursive: true });
  const user = { type: 'authorized_user', refresh_token: 'x', token_uri: `${server.origin}/token` };
  await writeFile(join(folder, 'application_default_credentials.json'), JSON.stringify(user));
  assert.equal(await findGsToken({ ...env, CLOUDSDK_CONFIG: folder }), '2');
  assert.equal(asked[1], 'POST /token');
});

test('an emulator is asked without a token, and a machine that is not at Google has none', async (t) => {
  const home = await temporaryFolder(t);
  assert.equal(await findGsToken({ HOME: home, STORAGE_EMULATOR_HOST: 'localhost:9' }), undefined);
  assert.equal(await findGsToken({ HOME: home, NO_GCE_CHECK: 'true' }), undefined);
});

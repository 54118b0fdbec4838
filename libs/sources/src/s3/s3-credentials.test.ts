import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startServer } from '../testing/servers.ts';
import { setEnvironment, temporaryFolder } from '../testing/temporary-files.ts';
import { findCredentials } from './s3-credentials.ts';
import { s3Settings } from './s3-settings.ts';

const none = {
  AWS_ACCESS_KEY_ID: undefined,
  AWS_SECRET_ACCESS_KEY: undefined,
  AWS_SESSION_TOKEN: undefined,
  AWS_PROFILE: undefined,
  AWS_WEB_IDENTITY_TOKEN_FILE: undefined,
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: undefined,
  AWS_CONTAINER_CREDENTIALS_FULL_URI: undefined,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
};

/** What is found with these variables and this text in ~/.aws/credentials. */
async function found(t: TestContext, variables: Record<string, string>, profiles?: string) {
  const folder = await temporaryFolder(t);
  const [AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE] = [join(folder, 'credentials'), join(folder, 'config')];
  if (profiles) await writeFile(AWS_SHARED_CREDENTIALS_FILE, profiles);
  setEnvironment(t, { ...none, AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE, ...variables });
  const credentials = await findCredentials(s3Settings(process.env));
  return credentials && [credentials.accessKeyId, credentials.secretAccessKey, credentials.sessionToken];
}

const profiles = `[default]
aws_access_key_id = DEFAULT
aws_secret_access_key = secret
[other]
aws_access_key_id = OTHER
aws_secret_access_key = secret
aws_session_token = token
`;

test('without any, requests are not signed', async (t) => {
  assert.equal(await found(t, {}), undefined);
  assert.equal(await found(t, {}, '[other]\nregion = eu-1\n'), undefined);
});

test('variables come before profiles, and a named profile before the default one', async (t) => {
  const variables = { AWS_ACCESS_KEY_ID: 'VARIABLE', AWS_SECRET_ACCESS_KEY: 'secret' };
  assert.deepEqual(await found(t, variables, profiles), ['VARIABLE', 'secret', undefined]);
  assert.deepEqual(await found(t, {}, profiles), ['DEFAULT', 'secret', undefined]);
  assert.deepEqual(await found(t, { AWS_PROFILE: 'other' }, profiles), ['OTHER', 'secret', 'token']);
});

test('the role of a container is asked for over HTTP, once', async (t) => {
  let requests = 0;
  const server = await startServer((_, response) => {
    requests++;
    const keys = { AccessKeyId: 'ROLE', SecretAccessKey: 'secret', Token: 'token' };
    const answer = { ...keys, Expiration: '2100-01-01T00:00:00Z' };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  t.after(() => server.close());
  const variables = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.origin}/role` };
  assert.deepEqual(await found(t, variables), ['ROLE', 'secret', 'token']);
  await findCredentials(s3Settings(process.env));
  assert.equal(requests, 1);
});

test('what is named but not there is an error', async (t) => {
  await assert.rejects(found(t, { AWS_PROFILE: 'missing' }, profiles), {
    name: 'InputError',
    message: /^The S3 credentials that AWS_PROFILE names are not there: /,
  });
  await assert.rejects(found(t, { AWS_WEB_IDENTITY_TOKEN_FILE: '/nowhere', AWS_ROLE_ARN: 'arn:aws:iam::1:role/r' }), {
    message: /^The S3 credentials that AWS_WEB_IDENTITY_TOKEN_FILE names are not there: /,
  });
});

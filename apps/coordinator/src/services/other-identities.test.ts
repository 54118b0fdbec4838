import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ServiceError, status } from '@grpc/grpc-js';
import { type JobStatus, JobsClient, type ListResponse, type MayAnswer } from '@halogrid/proto';
import { createClientSecurity } from '@halogrid/service';
import { grpcClient } from '@halogrid/service/grpc-client';
import { createLog } from '@halogrid/service/log';
import { secretFolder, writeSecret } from '@halogrid/service/testing';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { startCoordinator } from '../coordinator.ts';
import { specOf, testConfig, writeImages } from '../testing/coordinator-stage.ts';

test('callers are known by a token of an identity provider, and by the header of a proxy', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-identities-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }];
  const provider = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url === '/keys' ? { keys } : { issuer, jwks_uri: `${issuer}/keys` }));
  }).listen(0, '127.0.0.1');
  t.after(() => provider.close());
  await once(provider, 'listening');
  const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const tokens = writeSecret(secretFolder(t), 'tokens', 'read prometheus prometheus-token-0123456789\n');
  const owners = join(folder, 'owners');
  await writeFile(owners, 'ann role=submit\n', { mode: 0o600 });
  const security = {
    ...{ tokens, owners, oidcIssuer: issuer, oidcAudience: 'halogrid' },
    ...{ identityHeader: 'X-Forwarded-User', trustedProxy: ['127.0.0.1'] },
  };
  const coordinator = await startCoordinator(testConfig({ security }), createLog('test', 'silent'));
  t.after(() => coordinator.close());
  const api = `http://127.0.0.1:${coordinator.httpPort}/api/v1`;
  const signed = await new SignJWT({ iss: issuer, aud: 'halogrid', sub: 'ann' })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .setExpirationTime('1h')
    .sign(privateKey);

  const may = async (headers: Record<string, string>) => {
    const response = await fetch(`${api}/may`, { headers });
    const { name, submit, admin } = (await response.json()) as MayAnswer;
    return [response.status, name, submit, admin];
  };
  assert.deepEqual(await may({}), [401, undefined, undefined, undefined]);
  assert.deepEqual(await may({ authorization: `Bearer ${signed}` }), [200, 'ann', true, false]);
  assert.deepEqual(await may({ authorization: `Bearer ${signed.slice(0, -4)}AAAA` }), [
    401,
    undefined,
    undefined,
    undefined,
  ]);
  assert.deepEqual(await may({ 'x-forwarded-user': 'bob' }), [200, 'bob', false, false]);

  const [image] = await writeImages(folder, 1);
  const headers = { 'content-type': 'application/json', 'x-forwarded-user': 'ann' };
  const { sources, out } = specOf(folder, [image!]);
  const submitted = await fetch(`${api}/jobs`, { method: 'POST', headers, body: JSON.stringify({ sources, out }) });
  const { job } = (await submitted.json()) as { job: JobStatus };
  assert.equal(job.owner, 'ann');
  const refused = await fetch(`${api}/jobs/${job.jobId}/cancel`, {
    method: 'POST',
    headers: { ...headers, 'x-forwarded-user': 'bob' },
    body: '{}',
  });
  assert.equal(refused.status, 403);

  // gRPC takes the same tokens.
  const list = (token: string) => {
    const address = `127.0.0.1:${coordinator.grpcPort}`;
    const { channel, options } = grpcClient(address, { ...createClientSecurity({}), token: () => token });
    const jobs = new JobsClient(address, channel, options);
    t.after(() => jobs.close());
    return new Promise<ListResponse>((resolve, reject) => {
      jobs.list({ states: [], mine: true }, (error: ServiceError | null, answer) =>
        error ? reject(error) : resolve(answer),
      );
    });
  };
  assert.deepEqual(
    (await list(signed)).jobs.map(({ jobId }) => jobId),
    [job.jobId],
  );
  await assert.rejects(list(`${signed.slice(0, -4)}AAAA`), { code: status.UNAUTHENTICATED });
});

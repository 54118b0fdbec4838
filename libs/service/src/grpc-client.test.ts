import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Client, Metadata, Server, ServerCredentials, type ServiceError, status } from '@grpc/grpc-js';
import { within } from '@halogrid/testing';
import { grpcClient } from './grpc-client.ts';
import { createClientSecurity } from './security/client-security.ts';
import { makeCertificates, secretFolder } from './security/testing/secrets.ts';

test('an IP address is dialled without a warning, and its certificate must have it, or the name that led to it', async (t) => {
  const folder = secretFolder(t);
  const warned: Error[] = [];
  const heed = (warning: Error) => warned.push(warning);
  process.on('warning', heed);
  t.after(() => process.off('warning', heed));
  for (const [i, [names, code, name]] of (
    [
      ['IP:127.0.0.1', status.UNIMPLEMENTED, undefined],
      ['IP:127.0.0.2,DNS:localhost,DNS:coordinator.invalid', status.UNAVAILABLE, undefined],
      ['DNS:coordinators', status.UNIMPLEMENTED, 'coordinators'],
      ['IP:127.0.0.1,DNS:other', status.UNAVAILABLE, 'coordinators'],
    ] as const
  ).entries()) {
    const { ca, cert, key } = makeCertificates(folder, `for-${i}`, names);
    const pair = { private_key: readFileSync(key), cert_chain: readFileSync(cert) };
    const server = new Server();
    t.after(() => server.forceShutdown());
    const port = await new Promise<number>((resolve, reject) => {
      const credentials = ServerCredentials.createSsl(null, [pair]);
      server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    const address = `127.0.0.1:${port}`;
    const { channel, options } = grpcClient(address, createClientSecurity({ tlsCa: ca }), undefined, name);
    const client = new Client(address, channel, options);
    t.after(() => client.close());
    const none = () => Buffer.alloc(0);
    const answer = new Promise<ServiceError | null>((resolve) => {
      client.makeUnaryRequest('/none.Of/These', none, none, {}, new Metadata(), resolve);
    });
    const answered = await within('an answer or why there is none', answer);
    assert.equal(answered?.code, code, answered?.details);
  }
  assert.deepEqual(warned, []);
});

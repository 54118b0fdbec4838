import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { Client, type ServiceError, status } from '@grpc/grpc-js';
import { Hello, JobsService, NodesClient, NodesService, protocolVersion, SearchService } from '@halogrid/proto';
import {
  type ClientSecurity,
  createClientSecurity,
  resultsVersion,
  type ServerSecurityOptions,
} from '@halogrid/service';
import { grpcClient } from '@halogrid/service/grpc-client';
import { createLog } from '@halogrid/service/log';
import { makeCertificates, secretFolder, writeSecret } from '@halogrid/service/testing';
import { eventually, within } from '@halogrid/testing';
import { startCoordinator } from '../coordinator.ts';
import { testConfig } from '../testing/coordinator-stage.ts';

const tokenOf = (name: string): string => `${name}-token-0123456789`;
const withToken = (name: string): ClientSecurity => ({ tls: undefined, token: () => tokenOf(name) });

async function start(t: TestContext, security: ServerSecurityOptions): Promise<string> {
  const config = testConfig({ security });
  const coordinator = await startCoordinator(config, createLog('test', 'silent'));
  t.after(() => coordinator.close());
  return `127.0.0.1:${coordinator.grpcPort}`;
}

/** The status with which a call without a message ends; OK if it is answered. */
async function call(t: TestContext, address: string, path: string, security: ClientSecurity) {
  const { channel, options } = grpcClient(address, security);
  const client = new Client(address, channel, options);
  t.after(() => client.close());
  const none = () => Buffer.alloc(0);
  const stream = client.makeBidiStreamRequest(path, none, none);
  const ended = new Promise<{ code: status; details: string }>((resolve) => stream.on('status', resolve));
  const answered = new Promise<{ code: status; details: string }>((resolve) => {
    stream.on('data', () => resolve({ code: status.OK, details: '' }));
  });
  stream.on('error', () => {});
  stream.end({});
  const end = await within(`an answer to ${path}`, Promise.race([ended, answered]));
  stream.cancel();
  return end;
}

const needs: Record<string, string[]> = {
  Submit: ['submit', 'admin'],
  Cancel: ['submit', 'admin'],
  Remove: ['submit', 'admin'],
  Pause: ['submit', 'admin'],
  Resume: ['submit', 'admin'],
  Get: ['submit', 'read', 'admin'],
  List: ['submit', 'read', 'admin'],
  Watch: ['submit', 'read', 'admin'],
  Trace: ['submit', 'read', 'admin'],
  Attach: ['node'],
  ListIndexes: ['submit', 'read', 'admin'],
  ListFrames: ['submit', 'read', 'admin'],
  Search: ['submit', 'read', 'admin'],
  Changes: ['submit', 'read', 'admin'],
};

test('every call of every service is only for callers with its role', async (t) => {
  const roles = ['admin', 'submit', 'node', 'read'];
  const lines = roles.map((role) => `${role} ${role} ${tokenOf(role)}\n`);
  const lapsed = `submit lapsed ${tokenOf('lapsed')} 2020-01-01\n`;
  const tokens = writeSecret(secretFolder(t), 'tokens', lines.join('') + lapsed);
  const address = await start(t, { tokens });
  const methods = [JobsService, NodesService, SearchService].flatMap((service) =>
    Object.values(service).map(({ path }) => path),
  );
  assert.equal(methods.length, 15);
  for (const path of methods) {
    const allowed = needs[path.split('/')[2]!]!;
    for (const role of roles) {
      const { code, details } = await call(t, address, path, withToken(role));
      assert.equal(
        code === status.PERMISSION_DENIED,
        !allowed.includes(role),
        `${path} as ${role}: ${code} ${details}`,
      );
      assert.notEqual(code, status.UNAUTHENTICATED);
    }
    const known = `'${allowed.includes('read') ? 'read' : allowed[0]}'`;
    for (const [security, why] of [
      [withToken('wrong'), /^The token is not known here$/],
      [withToken('lapsed'), /^The token of 'lapsed' expired at 2020-01-01/],
      [createClientSecurity({}), new RegExp(`^Expected a token with the role ${known} but received none$`)],
    ] as const) {
      const { code, details } = await call(t, address, path, security);
      assert.equal(code, status.UNAUTHENTICATED, path);
      assert.match(details, why);
    }
  }
});

test('health is open; reflection is for readers; unknown calls are refused', async (t) => {
  const tokens = writeSecret(secretFolder(t), 'tokens', `read read ${tokenOf('read')}\n`);
  const address = await start(t, { tokens });
  const codeOf = async (path: string, security: ClientSecurity) => (await call(t, address, path, security)).code;
  const nobody = createClientSecurity({});
  assert.equal(await codeOf('/grpc.health.v1.Health/Check', nobody), status.OK);
  assert.equal(await codeOf('/grpc.health.v1.Health/Watch', nobody), status.OK);
  const reflection = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
  assert.equal(await codeOf(reflection, nobody), status.UNAUTHENTICATED);
  assert.notEqual(await codeOf(reflection, withToken('read')), status.UNAUTHENTICATED);
  assert.equal(await codeOf('/halogrid.v1.Jobs/Other', withToken('read')), status.UNIMPLEMENTED);
});

test('an attached node loses its connection when its token is taken away', async (t) => {
  const path = writeSecret(secretFolder(t), 'tokens', `node rack ${tokenOf('rack')}\nread bob ${tokenOf('bob')}\n`);
  const address = await start(t, { tokens: path });
  const { channel, options } = grpcClient(address, withToken('rack'));
  const nodes = new NodesClient(address, channel, options);
  t.after(() => nodes.close());
  const attached = nodes.attach();
  const device = { kind: 'cpu', name: 'script', driver: '' };
  const hello = { nodeId: 'a', name: 'a', protocol: protocolVersion, resultsVersion, device, creditBytes: 1 };
  attached.write({ report: { $case: 'hello', value: Hello.fromPartial(hello) } });
  await within('the welcome', once(attached, 'data'));
  writeSecret(path.replace(/\/tokens$/, ''), 'tokens', `read bob ${tokenOf('bob')}\n`);
  let end: ServiceError | undefined;
  attached.on('error', (error: ServiceError) => {
    end = error;
  });
  attached.resume();
  const { code, details } = await eventually('the node to be let go', () => {
    if (!end) attached.write({ report: { $case: 'heartbeat', value: {} } });
    return end;
  });
  assert.deepEqual([code, details], [status.UNAUTHENTICATED, 'The token is not known here']);
});

test('with an authority, a caller without a certificate from it gets no connection', async (t) => {
  const folder = secretFolder(t);
  const ours = makeCertificates(folder, 'ours');
  const theirs = makeCertificates(folder, 'theirs');
  const address = await start(t, { tlsCert: ours.cert, tlsKey: ours.key, tlsCa: ours.ca });
  const codeOf = async (options: Parameters<typeof createClientSecurity>[0]) =>
    (await call(t, address, '/halogrid.v1.Jobs/List', createClientSecurity(options))).code;
  assert.equal(await codeOf({ tlsCa: ours.ca, tlsCert: ours.cert, tlsKey: ours.key }), status.OK);
  assert.equal(await codeOf({ tlsCa: ours.ca }), status.UNAVAILABLE);
  assert.equal(await codeOf({ tlsCa: ours.ca, tlsCert: theirs.cert, tlsKey: theirs.key }), status.UNAVAILABLE);
  assert.equal(await codeOf({ tlsCa: theirs.ca, tlsCert: ours.cert, tlsKey: ours.key }), status.UNAVAILABLE);
  assert.equal(await codeOf({}), status.UNAVAILABLE);
});

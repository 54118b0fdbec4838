import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  type ChannelCredentials,
  type Client,
  credentials,
  loadPackageDefinition,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { createLog } from '@halogrid/service/log';
import { within } from '@halogrid/testing';
import { startCoordinator } from '../coordinator.ts';
import { testConfig } from '../testing/coordinator-stage.ts';

type Constructor = new (address: string, credentials: ChannelCredentials) => Client;

/** A client of a service, made from the .proto file that its package carries, as a foreign program would. */
async function connect(t: TestContext, protoFile: string, service: string): Promise<Client> {
  const config = testConfig();
  const coordinator = (await startCoordinator(config, createLog('test', 'silent')))!;
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the file that is loaded.
  let found: any = loadPackageDefinition(loadSync(protoFile, { enums: String }));
  for (const name of service.split('.')) found = found[name];
  const client = new (found as Constructor)(`127.0.0.1:${coordinator.grpcPort}`, credentials.createInsecure());
  t.after(async () => {
    client.close();
    await coordinator.close();
  });
  return client;
}

const packageFolder = (name: string): string => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

test('health answers for the server and for each service', async (t) => {
  const protoFile = join(packageFolder('grpc-health-check'), 'proto/health/v1/health.proto');
  const client = (await connect(t, protoFile, 'grpc.health.v1.Health')) as Client & {
    check(request: object, callback: (error: ServiceError | null, response: object) => void): void;
  };
  for (const service of ['', 'halogrid.v1.Jobs', 'halogrid.v1.Nodes']) {
    const response = await new Promise((resolve, reject) => {
      client.check({ service }, (error, answer) => (error ? reject(error) : resolve(answer)));
    });
    assert.deepEqual(response, { status: 'SERVING' });
  }
});

test('reflection names every service', async (t) => {
  const protoFile = join(packageFolder('@grpc/reflection'), 'build/proto/grpc/reflection/v1/reflection.proto');
  const client = (await connect(t, protoFile, 'grpc.reflection.v1.ServerReflection')) as Client & {
    serverReflectionInfo(): NodeJS.ReadWriteStream & { write(request: object): void };
  };
  const call = client.serverReflectionInfo();
  call.write({ listServices: '' });
  const [response] = await within('an answer', once(call, 'data'));
  const names = response.listServicesResponse.service.map(({ name }: { name: string }) => name);
  assert.deepEqual(names.sort(), ['halogrid.v1.Jobs', 'halogrid.v1.Nodes', 'halogrid.v1.Search']);
  call.end();
  await within('the end of the call', once(call, 'end'));
});

test('a taken address is refused with a sentence that names it, and nothing is left running', async (t) => {
  const log = createLog('test', 'silent');
  const first = (await startCoordinator(testConfig(), log))!;
  t.after(() => first.close());
  const listen = `127.0.0.1:${first.grpcPort}`;
  const config = testConfig({ listen });
  await assert.rejects(startCoordinator(config, log), {
    message: `Cannot listen on ${listen}: another program listens there (EADDRINUSE); give another address with --listen`,
  });
});

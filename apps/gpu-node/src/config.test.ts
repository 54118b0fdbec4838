import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@halogrid/service';
import { createNodeConfig, type NodeOptions } from './config.ts';

const create = (options: Partial<NodeOptions>) =>
  createNodeConfig({ coordinator: 'localhost:7070', ...options }, 'host', 'abcdef');

test('a node needs only a coordinator', () => {
  const { client: _, server: __, ...plain } = create({});
  assert.deepEqual(plain, {
    coordinators: ['localhost:7070'],
    coordinatorFile: undefined,
    name: 'host-abcd',
    nodeId: 'abcdef',
    device: 'auto',
    decode: 'auto',
    pinnedGpu: undefined,
    deviceTimeoutMs: undefined,
    decoderTimeoutMs: undefined,
    http: undefined,
    creditBytes: undefined,
    life: { drainTimeoutMs: 8000, idleExitMs: undefined, untilMs: undefined },
    hasRemoteStorage: false,
    data: { roots: undefined, hosts: undefined },
    warnings: [],
  });
});

test('given options are used', () => {
  const given = {
    coordinator: 'a:1,[::1]:2',
    coordinatorFile: 'f',
    name: 'n',
    device: 'cpu',
    decode: 'cpu',
    deviceTimeoutMs: 1000,
    decoderTimeoutMs: 86_400_000,
    http: '0.0.0.0:0',
    insecureNetwork: true,
    creditBytes: 5,
    drainTimeoutMs: 0,
    idleExitMs: 1000,
    untilMs: Date.UTC(2200, 0),
  };
  const { client: _, server: __, ...plain } = create(given);
  assert.deepEqual(plain, {
    coordinators: ['a:1', '[::1]:2'],
    coordinatorFile: 'f',
    name: 'n',
    nodeId: 'abcdef',
    device: 'cpu',
    decode: 'cpu',
    pinnedGpu: undefined,
    deviceTimeoutMs: 1000,
    decoderTimeoutMs: 86_400_000,
    http: { host: '0.0.0.0', port: 0 },
    creditBytes: 5,
    life: { drainTimeoutMs: 0, idleExitMs: 1000, untilMs: Date.UTC(2200, 0) },
    hasRemoteStorage: false,
    data: { roots: undefined, hosts: undefined },
    warnings: ['Without --data-root the coordinator may have this node read and write whatever its user may'],
  });
});

test('a node that is pinned to a GPU takes no other device', () => {
  const { device, pinnedGpu } = create({ pinnedGpu: '0000:0f:00.0' });
  assert.deepEqual([device, pinnedGpu], ['gpu', '0000:0f:00.0']);
});

test('a node with remote storage may ask its coordinators as well as the named hosts', () => {
  const options = { coordinator: 'Boss:1,[::1]:2', storage: 'remote' };
  const hosts = ['a.example', 'boss', '[::1]'];
  assert.deepEqual(create({ ...options, data: { allowHost: ['a.example'] } }).data, { roots: undefined, hosts });
  assert.deepEqual(create(options).warnings, []);
});

const wrong: [Partial<NodeOptions>, RegExp][] = [
  [{ coordinator: 'localhost' }, /HOST:PORT for --coordinator but received 'localhost'/],
  [{ coordinator: 'a:1,' }, /HOST:PORT for --coordinator but received ''/],
  [{ coordinator: 'a:0' }, /port from 1 to 65535 for --coordinator but received 'a:0'/],
  [{ storage: 'cloud' }, /shared or remote for --storage but received 'cloud'/],
  [{ decode: 'nvjpg' }, /one of auto, gpu, cpu for --decode but received 'nvjpg'/],
  [{ device: 'tpu' }, /one of auto, gpu, software, cpu for --device but received 'tpu'/],
  [{ device: 'cpu', pinnedGpu: '0000:0f:00.0' }, /Expected --device gpu with --gpu but received 'cpu'/],
  [{ http: '0.0.0.0:9465' }, /Refusing to listen on 0.0.0.0:9465 \(--http\).*--insecure-network/],
  [{ http: '9465' }, /HOST:PORT for --http but received '9465'/],
  [{ name: '' }, /1 to 200 characters for --name but received 0/],
  [{ deviceTimeoutMs: 999 }, /1000 to 86400000 milliseconds for --device-timeout but received '999'/],
  [{ decoderTimeoutMs: 1e9 }, /1000 to 86400000 milliseconds for --decoder-timeout but received '1000000000'/],
  [{ drainTimeoutMs: 604_801_000 }, /^Expected at most 7d for --drain-timeout but received '604801s'$/],
  [{ idleExitMs: 0 }, /^Expected at least 1s for --idle-exit but received '0s'$/],
  [
    { untilMs: Date.UTC(2026, 0), drainTimeoutMs: 60_000 },
    /^Expected a time more than 65 s ahead for --until, .* but received 2026-01-01T00:00:00\.000Z$/,
  ],
  [{ creditBytes: 0 }, /above 0 for the credit but received '0'/],
];

for (const [options, sentence] of wrong) {
  test(`${JSON.stringify(options)} is refused with a sentence`, () => {
    assert.throws(
      () => create(options),
      (error: unknown) => error instanceof UsageError && sentence.test(error.message),
    );
  });
}

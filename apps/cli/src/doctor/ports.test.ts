import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { askMetrics, probePorts } from './ports.ts';

test('a port is free, or the finding names the program that answers there', async (t) => {
  const listen = async (page: string): Promise<number> => {
    const server = createServer((_request, response) => response.end(page)).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const ports = [await listen('halogrid_jobs 1'), await listen('hello')];
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  ports.push((free.address() as AddressInfo).port);
  free.close();
  await once(free, 'close');
  const found = await probePorts(ports.map((port) => ({ port, of: 'a test', ask: askMetrics })));
  assert.deepEqual(
    found.map(({ by }) => by),
    ['halogrid', 'another program', undefined],
  );
});

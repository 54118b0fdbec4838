import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { eventually, pause, timeoutMs, within } from '@halogrid/testing';
import { defaultHttpLimits, startHttp } from './http.ts';
import { createRegistry } from './metrics.ts';

async function serve(t: TestContext, limits: Partial<typeof defaultHttpLimits>) {
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    registry: createRegistry('node'),
    notReady: () => undefined,
    limits: { ...defaultHttpLimits, ...limits },
  });
  t.after(() => server.close());
  return server.port;
}

/** The first line that a connection receives before it is closed. */
async function hear(t: TestContext, port: number, speak: (socket: Socket) => void): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  t.after(() => socket.destroy());
  let heard = '';
  socket.on('data', (text) => {
    heard += text;
  });
  // Bytes that arrived before a reset count; `once` would reject.
  const closed = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));
  speak(socket);
  await within('the end of a connection', closed);
  return heard.split('\r\n')[0]!;
}

test('a client that sends headers a byte at a time gets a timeout, and a silent one is disconnected', async (t) => {
  const port = await serve(t, { headersMs: timeoutMs(500), speakWithinMs: timeoutMs(1_500) });
  const drip = async (socket: Socket): Promise<void> => {
    for (; !socket.closed; await pause(50)) socket.write('a');
  };
  const slow = Array.from({ length: 20 }, () =>
    hear(t, port, (socket) => {
      socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\nX-Slow: ');
      void drip(socket);
    }),
  );
  const silent = Array.from({ length: 20 }, () => hear(t, port, () => {}));
  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200);
  assert.deepEqual(new Set(await Promise.all(slow)), new Set(['HTTP/1.1 408 Request Timeout']));
  assert.equal((await Promise.all(silent)).length, 20);
});

test('headers above 16 KiB are 431, and bytes that are not HTTP are 400', async (t) => {
  const port = await serve(t, {});
  const long = (socket: Socket) => socket.end(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  assert.equal(await hear(t, port, long), 'HTTP/1.1 431 Request Header Fields Too Large');
  const other = (socket: Socket) => socket.end('\x00\x01\x02\r\n\r\n');
  assert.equal(await hear(t, port, other), 'HTTP/1.1 400 Bad Request');
});

test('connections beyond the limit replace the oldest that never asked', async (t) => {
  const port = await serve(t, { maxConnections: 10 });
  const closed: number[] = [];
  for (let i = 0; i < 30; i++) {
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.on('error', () => {}).on('close', () => closed.push(i));
    await once(socket, 'connect');
  }
  assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 200);
  await eventually('twenty ends of connections', () => closed.length >= 20);
  assert.deepEqual(
    closed.slice(0, 20).sort((a, b) => a - b),
    Array.from({ length: 20 }, (_, i) => i),
  );
});

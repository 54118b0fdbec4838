import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { eventually, pause, within } from '@halogrid/testing';
import { seeded } from '../seeded.ts';
import { type NetworkClock, TcpProxy } from './tcp-proxy.ts';

/** An end of a connection that records what it receives. */
class End {
  heard = Buffer.alloc(0);
  packets = 0;
  hasEnded = false;
  /** ECONNRESET if the connection was reset. */
  error: string | undefined;
  readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes) => {
      this.heard = Buffer.concat([this.heard, bytes]);
      this.packets++;
    });
    socket.on('end', () => {
      this.hasEnded = true;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error.code;
    });
  }

  async hears(text: string | Buffer): Promise<void> {
    await eventually(`${text.length} bytes`, () => this.heard.length >= text.length);
    assert.deepEqual(this.heard, Buffer.from(text));
  }

  async closes(): Promise<void> {
    await eventually('a connection to close', () => this.socket.closed);
  }

  async ends(): Promise<void> {
    await eventually('the end of what is said', () => this.hasEnded);
  }
}

/** A client and the server that it reached through a proxy. */
async function connected(
  clock?: NetworkClock,
): Promise<{ proxy: TcpProxy; client: End; server: End; close: () => Promise<void> }> {
  const listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const proxy = await TcpProxy.start(`127.0.0.1:${(listener.address() as AddressInfo).port}`, 7, clock);
  const accepted = once(listener, 'connection');
  const client = new End(connect({ host: '127.0.0.1', port: proxy.port, allowHalfOpen: true, noDelay: true }));
  const server = new End((await accepted)[0]);
  const close = async (): Promise<void> => {
    client.socket.destroy();
    server.socket.destroy();
    await proxy.close();
    listener.close();
    await once(listener, 'close');
  };
  return { proxy, client, server, close };
}

function proxyTest(
  sentence: string,
  use: (ends: Awaited<ReturnType<typeof connected>>) => Promise<void>,
  clock?: NetworkClock,
): void {
  test(sentence, async () => {
    const ends = await connected(clock);
    try {
      await use(ends);
    } finally {
      await ends.close();
    }
  });
}

const megabytes = Buffer.alloc(5 * 2 ** 20, 'halogrid');

proxyTest('both ways carry all bytes, more than any buffer, and each has its own end', async ({ client, server }) => {
  client.socket.end(megabytes);
  await server.hears(megabytes);
  await server.ends();
  server.socket.end('still here');
  await client.hears('still here');
  await client.closes();
  assert.deepEqual([client.hasEnded, client.error, server.error], [true, undefined, undefined]);
});

/** A clock that advances at once by each wait, and records the waits. */
class VirtualClock implements NetworkClock {
  waits: number[] = [];
  #nowMs = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  async delay(ms: number): Promise<void> {
    this.waits.push(ms);
    this.#nowMs += ms;
  }
}

const latencyClock = new VirtualClock();
proxyTest(
  'latency delays each way and does not reduce its bandwidth',
  async ({ proxy, client, server }) => {
    proxy.set({ up: { latencyMs: 60, sliceBytes: 1 }, down: { latencyMs: 90, jitterMs: 20 } });
    client.socket.write('x'.repeat(100));
    await server.hears('x'.repeat(100));
    // 100 pieces that come at the same time are each 60 ms late, not 6 s in sum.
    assert.deepEqual(latencyClock.waits, [60]);
    server.socket.write('y');
    await client.hears('y');
    const [, downMs, ...more] = latencyClock.waits;
    assert.ok(downMs! >= 90 && downMs! < 110, `${downMs} ms`);
    assert.deepEqual(more, []);
  },
  latencyClock,
);

const trickleClock = new VirtualClock();
proxyTest(
  'a trickle passes no more bytes than its rate',
  async ({ proxy, client, server }) => {
    proxy.set({ up: { bytesPerSecond: 10_000, sliceBytes: 100 } });
    client.socket.write(Buffer.alloc(2_000, 1));
    await server.hears(Buffer.alloc(2_000, 1));
    assert.deepEqual(trickleClock.waits, Array(20).fill(10));
  },
  trickleClock,
);

proxyTest('slices arrive as separate packets', async ({ proxy, client, server }) => {
  proxy.set({ up: { sliceBytes: 1 } });
  client.socket.write('one by one');
  await server.hears('one by one');
  assert.ok(server.packets > 1, `${server.packets} packets`);
});

const healedClock = new VirtualClock();
proxyTest(
  'bytes that wait in slices are cut as the network is when their turn comes',
  async ({ proxy, client, server }) => {
    proxy.set({ up: { sliceBytes: 1, isHeld: true } });
    client.socket.write('x'.repeat(2_000));
    await pause(30);
    proxy.set({ up: { sliceBytes: 1_000, bytesPerSecond: 1_000_000 } });
    await server.hears('x'.repeat(2_000));
    // One byte may be on its way already.
    assert.ok(healedClock.waits.length <= 3, `${healedClock.waits.length} waits`);
  },
  healedClock,
);

proxyTest('a limit lets that many bytes pass, then resets', async ({ proxy, client, server }) => {
  proxy.set({ up: { limitBytes: 7 } });
  client.socket.write('four');
  client.socket.write('and more');
  await server.closes();
  await client.closes();
  assert.equal(server.heard.toString(), 'fourand');
  assert.equal(client.error, 'ECONNRESET');
});

for (const [how, error] of [
  ['reset', 'ECONNRESET'],
  ['end', undefined],
] as const) {
  proxyTest(`a cut by ${how} is seen by both ends`, async ({ proxy, client, server }) => {
    client.socket.write('x');
    await server.hears('x');
    proxy.cut(how);
    for (const end of [client, server]) {
      await eventually('an end', () => end.hasEnded || end.error !== undefined);
      assert.equal(end.error, error);
      end.socket.end();
      await end.closes();
    }
    await eventually('no connection', () => proxy.connections === 0);
  });
}

proxyTest('held bytes arrive in order once they are released', async ({ proxy, client, server }) => {
  proxy.set({ up: { isHeld: true } });
  client.socket.write('a');
  await pause(30);
  client.socket.end('b');
  server.socket.write('the other way is open');
  await client.hears('the other way is open');
  assert.equal(server.heard.length, 0);
  proxy.set({});
  await server.hears('ab');
  await server.ends();
});

proxyTest('lost bytes never arrive, and neither end notices', async ({ proxy, client, server }) => {
  client.socket.write('before');
  await server.hears('before');
  proxy.set({ up: { isLost: true } });
  client.socket.end(' and after');
  server.socket.write('reply');
  await client.hears('reply');
  await pause(50);
  assert.equal(server.heard.toString(), 'before');
  assert.deepEqual([server.hasEnded, server.socket.closed, client.socket.closed], [false, false, false]);
});

proxyTest('neither end of a forsaken connection notices the other, and the next connection works', async (ends) => {
  const { proxy, client, server } = ends;
  client.socket.write('before');
  await server.hears('before');
  proxy.forsake();
  server.socket.write('unheard');
  client.socket.resetAndDestroy();
  const next = new End(connect(proxy.port, '127.0.0.1'));
  await once(next.socket, 'connect');
  await eventually('two connections', () => proxy.connections === 2);
  assert.deepEqual([client.heard.length, server.hasEnded, server.socket.closed], [0, false, false]);
  next.socket.destroy();
});

proxyTest('a reply is lost though its request was delivered', async ({ proxy, client, server }) => {
  proxy.set({ down: { isLost: true } });
  client.socket.write('commit');
  await server.hears('commit');
  server.socket.write('done');
  await pause(20);
  proxy.cut('reset');
  await client.closes();
  assert.deepEqual([client.heard.length, client.error], [0, 'ECONNRESET']);
});

proxyTest('a refused client is reset, and accepted again later', async ({ proxy, client, server }) => {
  proxy.refuse();
  await Promise.all([client.closes(), server.closes()]);
  const refused = new End(connect(proxy.port, '127.0.0.1'));
  await refused.closes();
  assert.equal(refused.error, 'ECONNRESET');
  proxy.accept();
  const back = new End(connect(proxy.port, '127.0.0.1'));
  await once(back.socket, 'connect');
  back.socket.destroy();
  assert.equal(proxy.accepted, 3);
});

test('a process ends even if it reset a connection whose end was on its way', async () => {
  const program = `
    import { once } from 'node:events';
    import { connect, createServer } from 'node:net';
    import { TcpProxy } from '${new URL('tcp-proxy.ts', import.meta.url)}';
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const proxy = await TcpProxy.start('127.0.0.1:' + listener.address().port);
    const accepted = once(listener, 'connection');
    connect(proxy.port, '127.0.0.1').on('error', () => {});
    const [socket] = await accepted;
    socket.on('error', () => {});
    proxy.cut('end');
    proxy.cut('reset');
    await proxy.close();
    listener.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'inherit' });
  try {
    assert.deepEqual(await within('the process to end', once(child, 'exit')), [0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});

test('the same seed gives the same numbers, all from 0 up to 1', () => {
  const draw = (seed: number): number[] => Array.from({ length: 1000 }, seeded(seed));
  assert.deepEqual(draw(5), draw(5));
  assert.notDeepEqual(draw(5), draw(6));
  assert.ok(draw(5).every((number) => number >= 0 && number < 1));
  assert.ok(Math.abs(draw(5).reduce((sum, number) => sum + number, 0) / 1000 - 0.5) < 0.05);
});

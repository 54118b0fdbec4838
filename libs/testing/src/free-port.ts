import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** The next that may be free. */
let next = 20_000 + (process.pid % 10_000);

/**
 * A port of 127.0.0.1 that nobody listens on, below those that the system gives to a program that asks for any. Each
 * call gives another.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(next++, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    const found = (server.address() as AddressInfo).port;
    server.close();
    await once(server, 'close');
    return found;
  }
}

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** The next port that may be free. */
let next = 20_000 + (process.pid % 10_000);

/** A free port of 127.0.0.1, below the range from which the system chooses ports. Each call gives another one. */
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

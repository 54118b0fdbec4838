import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port of 127.0.0.1 that nobody listens on, below those that the system gives to whoever asks for any. */
export async function freePort(): Promise<number> {
  for (let port = 20_000 + (process.pid % 10_000); ; port++) {
    const server = createServer().listen(port, '127.0.0.1');
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

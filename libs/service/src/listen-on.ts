import type { AddressInfo, Server } from 'node:net';
import type { ListenAddress } from './listen-address.ts';
import { isSystemError, whyNotServed } from './system-errors.ts';

/**
 * Makes a server listen, and resolves with its port. Rejects with one sentence if the address is not available;
 * `option` is the option that gives the address.
 */
export async function listenOn(
  server: Server,
  { host, port }: ListenAddress,
  option: '--listen' | '--http',
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const why = isSystemError(error) ? whyNotServed(error) : error.message;
      reject(
        new Error(`Cannot listen on ${host}:${port}: ${why}; give another address with ${option}`, { cause: error }),
      );
    });
    server.listen(port, host.replace(/^\[(.*)\]$/, '$1'), resolve);
  });
  return (server.address() as AddressInfo).port;
}

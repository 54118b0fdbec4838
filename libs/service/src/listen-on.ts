import type { AddressInfo, Server } from 'node:net';
import type { ListenAddress } from './listen-address.ts';

/** Has a server listen, and resolves with its port. Rejects where the address cannot be had. */
export async function listenOn(server: Server, { host, port }: ListenAddress): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host.replace(/^\[(.*)\]$/, '$1'), resolve);
  });
  return (server.address() as AddressInfo).port;
}

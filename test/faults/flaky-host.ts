import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a host fails: it refuses connections, resets each one, answers with a status, or its name no longer resolves. */
export type Absence = 'refuses' | 'resets' | 'has no name' | number;

/** A web server on this machine that fails when a test says so, and comes back. */
export class FlakyHost {
  readonly port: number;
  /** Resolves when it has begun to fail. */
  readonly away: Promise<void>;
  readonly #server: Server;
  readonly #left = Promise.withResolvers<void>();
  readonly #setName: (isKnown: boolean) => void;
  #absence: Absence | undefined;
  #leaves: ((request: IncomingMessage) => Absence | undefined) | undefined;

  private constructor(server: Server, setName: (isKnown: boolean) => void) {
    this.#server = server;
    this.#setName = setName;
    this.away = this.#left.promise;
    this.port = (server.address() as AddressInfo).port;
  }

  /** Starts a host. `setName` makes its name resolve or not. */
  static async start(serve: RequestListener, setName: (isKnown: boolean) => void = () => {}): Promise<FlakyHost> {
    const server = createServer((asked, response) => {
      if (host.#isThereFor(asked)) serve(asked, response);
      else if (typeof host.#absence === 'number') response.writeHead(host.#absence).end();
      else asked.socket.resetAndDestroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = new FlakyHost(server, setName);
    setName(true);
    return host;
  }

  /** Makes the host fail at the first request for which `leaves` returns an absence. */
  leaveWhen(leaves: (request: IncomingMessage) => Absence | undefined): void {
    this.#leaves = leaves;
  }

  /** Whether the host fails now. */
  get isAway(): boolean {
    return this.#absence !== undefined;
  }

  /** Makes the host work again, until `leaves` returns an absence. */
  async back(leaves?: (request: IncomingMessage) => Absence | undefined): Promise<void> {
    const absence = this.#absence;
    this.#leaves = leaves;
    this.#absence = undefined;
    if (absence === 'has no name') this.#setName(true);
    if (absence === 'refuses')
      await new Promise<void>((resolve) => this.#server.listen(this.port, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #isThereFor(asked: IncomingMessage): boolean {
    const absence = this.#absence ?? this.#leaves?.(asked);
    if (absence === undefined) return true;
    if (this.#absence === undefined) this.#leave(absence);
    return false;
  }

  #leave(absence: Absence): void {
    this.#absence = absence;
    this.#leaves = undefined;
    if (absence === 'has no name') this.#setName(false);
    if (absence === 'refuses') this.#server.close();
    // Closes kept connections, because they would still reach the server.
    if (typeof absence !== 'number') this.#server.closeAllConnections();
    this.#left.resolve();
  }
}

/** Passes requests to another server on this machine, with the same `Host`. */
export function handTo(origin: string): RequestListener {
  const { port } = new URL(origin);
  return (asked, response) => {
    const { method, url: path, headers } = asked;
    const onward = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    onward.end();
  };
}

import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { pause, turns } from '@halogrid/testing';
import { seeded } from '../seeded.ts';

/** The faults of one direction; by default none. */
export interface Way {
  /** Every byte arrives this many milliseconds later. */
  latencyMs?: number;
  /** In addition, each piece is delayed by a random time up to this; the order is kept, as in TCP. */
  jitterMs?: number;
  /** The bandwidth. */
  bytesPerSecond?: number;
  /** Bytes pass in pieces of at most this many bytes, each a separate packet. */
  sliceBytes?: number;
  /** Each connection is reset once it has carried this many bytes. */
  limitBytes?: number;
  /** Nothing passes, and everything arrives once this is over, as after a partition that heals. */
  isHeld?: boolean;
  /** Sent bytes are accepted and lost, also on later connections. */
  isLost?: boolean;
}

/** The clock of a network, and its waits. */
export interface NetworkClock {
  nowMs(): number;
  delay(ms: number): Promise<void>;
}

const realClock: NetworkClock = { nowMs: () => performance.now(), delay: pause };

/**
 * Resets a connection. If its end is on its way, closes it instead: Node 24 would never close the socket, and would
 * loop forever when the process ends.
 */
function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}

/** One connection on both sides of the proxy. */
interface Link {
  client: Socket;
  target: Socket;
  /** Neither side receives anything of the other any more. */
  isForsaken: boolean;
}

/** The most bytes on their way through a connection; above it, the sender has to wait. */
const maxInsideBytes = 2 ** 20;

/**
 * A TCP proxy on this machine, whose network fails as a test says. `up` is the direction from the client to the target.
 */
export class TcpProxy {
  /** HOST:PORT to dial instead of the target. */
  readonly address: string;
  readonly #server: Server;
  readonly #target: { host: string; port: number };
  readonly #random: () => number;
  readonly #clock: NetworkClock;
  readonly #links = new Set<Link>();
  #accepted = 0;
  #up: Way = {};
  #down: Way = {};
  #refuses = false;
  #changed = Promise.withResolvers<void>();

  private constructor(server: Server, target: { host: string; port: number }, seed: number, clock: NetworkClock) {
    this.#server = server;
    this.#target = target;
    this.#random = seeded(seed);
    this.#clock = clock;
    this.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (client) => this.#accept(client));
  }

  /** Starts a proxy before `target` (HOST:PORT). Its random numbers depend only on `seed`. */
  static async start(target: string, seed = 1, clock = realClock): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const [host, port] = target.split(':');
    return new TcpProxy(server, { host: host!, port: Number(port) }, seed, clock);
  }

  get port(): number {
    return Number(this.address.split(':')[1]);
  }

  /** How many connections have been accepted. */
  get accepted(): number {
    return this.#accepted;
  }

  /** How many connections are open now. */
  get connections(): number {
    return this.#links.size;
  }

  /** Sets the faults from now on, for open and for later connections. */
  set({ up = {}, down = {} }: { up?: Way; down?: Way }): void {
    this.#up = up;
    this.#down = down;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Ends every connection: `reset` like a machine that lost its state, `end` in order. */
  cut(how: 'reset' | 'end'): void {
    for (const { client, target } of this.#links) {
      for (const socket of [client, target]) how === 'reset' ? reset(socket) : socket.end();
    }
  }

  /** Leaves every open connection half open forever, like a machine that lost its power. Later connections work. */
  forsake(): void {
    for (const link of this.#links) link.isForsaken = true;
  }

  /** Resets every connection, now and later, until `accept`. */
  refuse(): void {
    this.#refuses = true;
    this.cut('reset');
  }

  accept(): void {
    this.#refuses = false;
  }

  async close(): Promise<void> {
    this.set({});
    this.refuse();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    this.#accepted++;
    if (this.#refuses) {
      client.on('error', () => {});
      reset(client);
      return;
    }
    const target = connect({ ...this.#target, allowHalfOpen: true, noDelay: true });
    const link: Link = { client, target, isForsaken: false };
    this.#links.add(link);
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const) {
      one.on('error', () => {
        if (!link.isForsaken) reset(other);
      });
      one.on('close', () => {
        if (other.closed) this.#links.delete(link);
        // A side that has ended in order has its end on its way already.
        else if (!one.readableEnded && !link.isForsaken) other.destroy();
      });
    }
    this.#carry(client, target, () => (link.isForsaken ? { isLost: true } : this.#up));
    this.#carry(target, client, () => (link.isForsaken ? { isLost: true } : this.#down));
  }

  /** Forwards the bytes of `from`, one piece after another. */
  #carry(from: Socket, to: Socket, way: () => Way): void {
    let insideBytes = 0;
    let carriedBytes = 0;
    let last = Promise.resolve();
    /** Resolves with how many of the bytes have passed, as the faults of this moment say. */
    const forward = async (bytes: Buffer, cameMs: number): Promise<number> => {
      const { latencyMs = 0, jitterMs = 0 } = way();
      const lateMs = latencyMs + jitterMs * this.#random() - (this.#clock.nowMs() - cameMs);
      if (latencyMs + jitterMs > 0 && lateMs > 0) await this.#clock.delay(lateMs);
      while (way().isHeld && !to.destroyed) await this.#changed.promise;
      const { bytesPerSecond, isLost, limitBytes = Number.POSITIVE_INFINITY, sliceBytes } = way();
      // Without this, the receiver would get several packets at once.
      if (sliceBytes) await turns();
      const piece = bytes.subarray(0, sliceBytes);
      if (bytesPerSecond) await this.#clock.delay((piece.length / bytesPerSecond) * 1000);
      insideBytes -= piece.length;
      if (insideBytes <= maxInsideBytes) from.resume();
      if (isLost || to.destroyed) return piece.length;
      const passed = piece.subarray(0, Math.max(0, limitBytes - carriedBytes));
      carriedBytes += passed.length;
      const isFull = !to.write(passed);
      if (passed.length < piece.length) {
        // Waits, because bytes before the limit must arrive, and the reset would overtake them.
        await new Promise((resolve) => to.write('', resolve));
        reset(from);
        reset(to);
      } else if (isFull) await new Promise<void>((resolve) => void to.once('drain', resolve).once('close', resolve));
      return piece.length;
    };
    const forwardAll = async (bytes: Buffer, cameMs: number): Promise<void> => {
      for (let at = 0; at < bytes.length; ) at += await forward(bytes.subarray(at), cameMs);
    };
    from.on('data', (bytes: Buffer) => {
      const cameMs = this.#clock.nowMs();
      insideBytes += bytes.length;
      if (insideBytes > maxInsideBytes) from.pause();
      last = last.then(() => forwardAll(bytes, cameMs));
    });
    from.on('end', () => {
      void last.then(() => {
        if (!way().isLost) to.end();
      });
    });
  }
}

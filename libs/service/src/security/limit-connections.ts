import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';

export interface ConnectionLimits {
  /** Most open connections. A further one replaces the oldest that has not authenticated yet. */
  maxConnections: number;
  /** A connection that has not asked for anything in this time is closed. */
  speakWithinMs: number;
}

/** Four times the number of nodes that a coordinator is designed for. */
const enoughConnections = 4096;
/**
 * The share of a process's open files for the connections of one address. A process listens at two addresses; half of
 * the files are left for reading and writing.
 */
const partOfFiles = 1 / 4;
const fewestConnections = 16;

/** How many connections one address may have, if the process may open `files` files. */
export const connectionsOf = (files: number): number =>
  Math.max(fewestConnections, Math.min(enoughConnections, Math.floor(files * partOfFiles)));

/** The number of files, including connections, that this process may open, as Linux states it. */
export function mostFiles(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return Number(soft ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** A warning for the operator if the process may open few files; undefined if there are enough. */
export function fewFilesSentence(files = mostFiles()): string | undefined {
  const connections = connectionsOf(files);
  if (connections === enoughConnections) return undefined;
  return `This process may open ${files} files (ulimit -n), so each of its addresses takes ${connections} connections at most`;
}

/** A client sends its request as soon as it is connected: 10 s suffice for slow networks. */
export const defaultConnectionLimits: ConnectionLimits = {
  maxConnections: connectionsOf(mostFiles()),
  speakWithinMs: 10_000,
};

interface Connection {
  socket: Socket;
  timer: NodeJS.Timeout;
}

/** Keeps clients that connect and then send nothing, or nothing that is allowed, from crowding out others. */
export class ConnectionGate {
  readonly #limits: ConnectionLimits;
  /** Connections that are not trusted yet, oldest first, by `peerAddress`. */
  readonly #strangers = new Map<string, Connection>();
  /** All open connections, by `peerAddress`. */
  readonly #sockets = new Map<string, Socket>();
  #open = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Watches every connection of a server. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.add(socket));
  }

  /** Adds a new connection. */
  add(socket: Socket): void {
    const address = peerAddress(socket);
    const timer = setTimeout(() => socket.destroy(), this.#limits.speakWithinMs).unref();
    this.#strangers.set(address, { socket, timer });
    this.#sockets.set(address, socket);
    this.#open++;
    socket.once('close', () => {
      this.#open--;
      clearTimeout(timer);
      if (this.#sockets.get(address) === socket) this.#sockets.delete(address);
      if (this.#strangers.get(address)?.socket === socket) this.#strangers.delete(address);
    });
    if (this.#open <= this.#limits.maxConnections) return;
    // Closes the newest itself if all others are trusted.
    for (const [oldest, stranger] of this.#strangers) {
      this.#strangers.delete(oldest);
      stranger.socket.destroy();
      return;
    }
  }

  /** Closes the connections that are not trusted yet. */
  close(): void {
    for (const { socket } of this.#strangers.values()) socket.destroy();
  }

  /** Bytes that have gone out to ADDRESS:PORT; 0 without a connection from there. */
  bytesWritten(address: string): number {
    return this.#sockets.get(address)?.bytesWritten ?? 0;
  }

  /** Closes the connection from ADDRESS:PORT, trusted or not. */
  drop(address: string): void {
    this.#sockets.get(address)?.destroy();
  }

  /**
   * The connection from ADDRESS:PORT asked for something. From now on a connection that `isTrusted` is not closed to
   * make room for others.
   */
  spoke(address: string, isTrusted: boolean): void {
    const connection = this.#strangers.get(address);
    if (!connection) return;
    clearTimeout(connection.timer);
    if (isTrusted) this.#strangers.delete(address);
  }
}

/** ADDRESS:PORT of the other side. */
export const peerAddress = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`;

import { ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';

/** Milliseconds between two looks at the calls whose callers have not taken a message. */
const lookEveryMs = 1_000;

/** A connection that takes fewer bytes than this within `untakenMs` is stuck, not slow. */
const leastBytes = 2 ** 16;

/** A message that the caller has not taken since `sinceMs`, when `bytes` had gone out on its connection. */
interface Untaken {
  peer: string;
  path: string;
  sinceMs: number;
  bytes: number;
}

export interface PaceOptions {
  /** A connection is closed if a message waits for longer than this, unless much else goes out on it meanwhile. */
  untakenMs: number;
  /** Bytes that have gone out to a peer, by ADDRESS:PORT. */
  bytesWritten: (peer: string) => number;
  /** Called with the peer of a connection that is to be closed, and the path of the call. */
  onUntaken: (peer: string, path: string) => void;
  /** A clock that never goes back. */
  nowMs: () => number;
}

export interface Pace {
  interceptor: ServerInterceptor;
  close(): void;
}

/**
 * Makes a server read no further message of a call while the caller has not taken an answer. So a caller that sends
 * without reading its answers piles up no more than the answers to one message.
 */
export function paceCalls({ untakenMs, bytesWritten, onUntaken, nowMs }: PaceOptions): Pace {
  const waiting = new Set<Untaken>();
  const timer = setInterval(() => {
    const now = nowMs();
    for (const untaken of waiting) {
      if (now - untaken.sinceMs <= untakenMs) continue;
      const bytes = bytesWritten(untaken.peer);
      if (bytes - untaken.bytes >= leastBytes) Object.assign(untaken, { sinceMs: now, bytes });
      else {
        waiting.delete(untaken);
        onUntaken(untaken.peer, untaken.path);
      }
    }
  }, lookEveryMs).unref();

  class PacedCall extends ServerInterceptingCall {
    readonly #path: string;
    #untaken: Untaken | undefined;
    #wantsToRead = false;

    constructor(call: ConstructorParameters<typeof ServerInterceptingCall>[0], path: string) {
      super(call);
      this.#path = path;
    }

    override start(listener: Parameters<ServerInterceptingCall['start']>[0]): void {
      super.start({
        onReceiveMetadata: (metadata) => listener.onReceiveMetadata(metadata),
        onReceiveMessage: (message) => listener.onReceiveMessage(message),
        onReceiveHalfClose: () => listener.onReceiveHalfClose(),
        // The call is over.
        onCancel: () => {
          this.#taken();
          listener.onCancel();
        },
      });
    }

    override startRead(): void {
      if (this.#untaken) this.#wantsToRead = true;
      else super.startRead();
    }

    // biome-ignore lint/suspicious/noExplicitAny: as the library declares it
    override sendMessage(message: any, callback: () => void): void {
      const peer = this.getPeer();
      this.#untaken = { peer, path: this.#path, sinceMs: nowMs(), bytes: bytesWritten(peer) };
      waiting.add(this.#untaken);
      super.sendMessage(message, () => {
        this.#taken();
        // This may send the next message that waits.
        callback();
        if (this.#untaken || !this.#wantsToRead) return;
        this.#wantsToRead = false;
        super.startRead();
      });
    }

    #taken(): void {
      if (this.#untaken) waiting.delete(this.#untaken);
      this.#untaken = undefined;
    }
  }

  return {
    interceptor: ({ path }, call) => new PacedCall(call, path),
    close: () => clearInterval(timer),
  };
}

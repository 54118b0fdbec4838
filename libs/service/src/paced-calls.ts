import { ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';

/** Between two looks at the calls whose callers have not taken what was sent. */
const lookEveryMs = 1_000;

/** A connection that takes fewer bytes than this in the time is not one that is slow. */
const leastBytes = 2 ** 16;

/** The caller has not taken a message since `sinceMs`, when `bytes` had gone out on its connection. */
interface Untaken {
  peer: string;
  path: string;
  sinceMs: number;
  bytes: number;
}

export interface PaceOptions {
  /** A connection on which a message waits for longer is closed, unless much else goes out on it meanwhile. */
  untakenMs: number;
  /** Bytes that have gone out to a peer, by ADDRESS:PORT. */
  bytesWritten: (peer: string) => number;
  /** Takes the peer of a connection that is to be closed, and the call. */
  onUntaken: (peer: string, path: string) => void;
  /** A clock that never goes back. */
  nowMs: () => number;
}

export interface Pace {
  interceptor: ServerInterceptor;
  close(): void;
}

/**
 * Reads no further message of a call while one that was sent in it has not been taken: whatever a call answers, and
 * whoever asks without listening, no more piles up than what one message leads to.
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
        // The call is over, in whatever way.
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
        // This may send what waits behind it.
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

import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';

/** A message in a gRPC frame: a byte that says it is not compressed, its length, and the message. */
export function grpcFrame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** How a call ended: its gRPC status; the code is undefined if the connection ended. */
export interface CallEnd {
  code: number | undefined;
  details: string;
}

/** A call over HTTP/2 without a gRPC library. It reads answers only when told to. */
export class RawCall {
  readonly ended: Promise<CallEnd>;
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  #answers = 0;

  constructor(address: string, path: string) {
    this.#session = connect(`http://${address}`).on('error', () => {});
    const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
    this.#stream = this.#session.request(headers, { endStream: false }).on('error', () => {});
    this.#stream.pause();
    this.ended = new Promise((resolve) => {
      const take = (fields: Record<string, unknown>) => {
        const code = fields['grpc-status'];
        if (code === undefined) return;
        resolve({ code: Number(code), details: decodeURIComponent(String(fields['grpc-message'] ?? '')) });
      };
      const gone = () => resolve({ code: undefined, details: '' });
      this.#stream.on('response', take).on('trailers', take).on('close', gone);
      this.#session.on('close', gone);
    });
  }

  get isOpen(): boolean {
    return !this.#stream.closed && !this.#stream.destroyed;
  }

  /** How many chunks of answers have been read. */
  get answers(): number {
    return this.#answers;
  }

  /** Writes messages without waiting. */
  say(...messages: Uint8Array[]): this {
    if (this.isOpen) this.#stream.write(Buffer.concat(messages.map(grpcFrame)));
    return this;
  }

  /** Begins to read answers. */
  listen(): this {
    this.#stream.on('data', () => {
      this.#answers++;
    });
    this.#stream.resume();
    return this;
  }

  /** Sends the message again and again, as fast as it is accepted, until the signal is aborted or the call ends. */
  async flood(message: Uint8Array, signal: AbortSignal): Promise<void> {
    const frame = grpcFrame(message);
    const many = Math.max(1, Math.floor(65_536 / frame.length));
    const chunk = Buffer.concat(Array.from({ length: many }, () => frame));
    let isOver = signal.aborted;
    const over = Promise.race([once(signal, 'abort'), this.ended]).then(() => {
      isOver = true;
    });
    while (!isOver && this.isOpen) {
      if (!this.#stream.write(chunk)) await Promise.race([once(this.#stream, 'drain').catch(() => {}), over]);
    }
  }

  /** Ends the stream of messages. */
  finish(): void {
    this.#stream.end();
  }

  hangUp(): void {
    this.#stream.close();
    this.#session.destroy();
  }
}

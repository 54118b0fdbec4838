import type { IncomingMessage } from 'node:http';
import { CallerGoneError, Refusal } from '@halogrid/jobs/refusal';

export interface BodyLimits {
  bytes: number;
  /** The time for a body, from the headers on. */
  withinMs: number;
  /** A body that has been received for this long gives up its place when others wait. */
  leastMs: number;
}

/** A picture of 16 MiB takes 13 s at 10 Mbit/s. */
export const bodyTimes = { withinMs: 30_000, leastMs: 2_000 };

/**
 * Receives bodies of requests into memory, a limited number at a time. A slow sender does not keep others from sending:
 * if all places are taken, the oldest body gives up its place.
 */
export class BodyReceiver {
  readonly #most: number;
  readonly #limits: BodyLimits;
  /** The bodies that are being received, oldest first: since when, and a function that ends each. */
  readonly #underWay = new Map<object, { sinceMs: number; end: (why: Error) => void }>();

  constructor(most: number, limits: BodyLimits) {
    this.#most = most;
    this.#limits = limits;
  }

  /**
   * Rejects with Refusal if the body is too long or too slow, or too many others are being received; with
   * CallerGoneError if the body ends early.
   */
  async receive(request: IncomingMessage): Promise<Buffer> {
    const { bytes, withinMs } = this.#limits;
    this.#makeRoom();
    const key = {};
    const parts: Buffer[] = [];
    let length = 0;
    let late: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        if (request.destroyed) reject(new CallerGoneError());
        this.#underWay.set(key, { sinceMs: performance.now(), end: reject });
        late = setTimeout(() => reject(tooSlow(`it may take ${withinMs / 1000} s`)), withinMs);
        request
          .on('data', (part: Buffer) => {
            length += part.length;
            if (length > bytes) reject(new Refusal('invalid', `Expected at most ${bytes} bytes but received more`));
            else parts.push(part);
          })
          .once('end', () => resolve(Buffer.concat(parts, length)))
          .once('error', () => reject(new CallerGoneError()))
          .once('close', () => reject(new CallerGoneError()));
      });
    } finally {
      clearTimeout(late);
      this.#underWay.delete(key);
      request.removeAllListeners('data').pause();
    }
  }

  #makeRoom(): void {
    if (this.#underWay.size < this.#most) return;
    const [[key, oldest] = []] = this.#underWay;
    if (!oldest || performance.now() - oldest.sinceMs < this.#limits.leastMs) {
      throw new Refusal('exhausted', `${this.#most} bodies are received here already: ask again in a moment`);
    }
    this.#underWay.delete(key!);
    oldest.end(tooSlow('others wait'));
  }
}

const tooSlow = (why: string): Refusal => new Refusal('exhausted', `The body of the request came too slowly: ${why}`);

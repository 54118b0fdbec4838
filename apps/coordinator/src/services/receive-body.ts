import type { IncomingMessage } from 'node:http';
import { CallerGoneError, Refusal } from '../job/refusal.ts';

export interface BodyLimits {
  bytes: number;
  /** From the headers on. */
  withinMs: number;
  /** One that is being received for so long gives its place to the next. */
  leastMs: number;
}

/** A picture of 16 MiB takes 13 s at 10 Mbit/s. */
export const bodyTimes = { withinMs: 30_000, leastMs: 2_000 };

/**
 * Receives bodies of requests, so many at a time, each of which is in memory. Who sends slowly keeps nobody else from
 * sending: where all places are taken, the oldest gives its own up.
 */
export class BodyReceiver {
  readonly #most: number;
  readonly #limits: BodyLimits;
  /** Those that are under way, oldest first: since when, and what ends them. */
  readonly #underWay = new Map<object, { sinceMs: number; end: (why: Error) => void }>();

  constructor(most: number, limits: BodyLimits) {
    this.#most = most;
    this.#limits = limits;
  }

  /**
   * Rejects with Refusal where a body is too long or comes too slowly, or too many others come; with CallerGoneError
   * where it ends early.
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

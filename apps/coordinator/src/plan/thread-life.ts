import { readFileSync, readlinkSync } from 'node:fs';

/** Between two signs of life. */
const beatMs = 250;
/** Of a clock tick in /proc: USER_HZ is 100 on all that Node runs on. */
const tickMs = 10;

const fields = { beats: 0, source: 1, thread: 2, begun: 3 } as const;

/** What a thread shows of itself while it obeys an order, in memory that the thread which watches it sees. */
export class ThreadLife {
  readonly #shown: Int32Array<SharedArrayBuffer>;

  /** `shown` is of another one, whose memory it shares. */
  constructor(shown = new Int32Array(new SharedArrayBuffer(4 * Object.keys(fields).length))) {
    this.#shown = shown;
  }

  get shown(): Int32Array<SharedArrayBuffer> {
    return this.#shown;
  }

  /** For the thread itself: shows that it turns to what is next, for as long as it does. */
  begin(): void {
    Atomics.store(this.#shown, fields.thread, ownNumber());
    Atomics.store(this.#shown, fields.begun, 1);
    setInterval(() => Atomics.add(this.#shown, fields.beats, 1), beatMs).unref();
  }

  /** For the thread itself: the source that it lists now, by its place in the job. */
  at(source: number): void {
    Atomics.store(this.#shown, fields.source, source);
  }

  get source(): number {
    return Atomics.load(this.#shown, fields.source);
  }

  /** Whether its program is loaded, native modules and all. */
  get hasBegun(): boolean {
    return Atomics.load(this.#shown, fields.begun) === 1;
  }

  get beats(): number {
    return Atomics.load(this.#shown, fields.beats);
  }

  /**
   * Milliseconds that it has computed; undefined where the system does not tell. Who waits for a disk computes
   * nothing, and neither does who waits for a core.
   */
  computedMs(): number | undefined {
    const thread = Atomics.load(this.#shown, fields.thread);
    if (thread === 0) return undefined;
    try {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1');
      // The name of the thread, in parentheses, may hold anything; utime and stime are the 12th and 13th behind it.
      const [user, system] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13);
      return (Number(user) + Number(system)) * tickMs;
    } catch {
      return undefined;
    }
  }
}

/** That of this thread on Linux; 0 elsewhere. */
function ownNumber(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return 0;
  }
}

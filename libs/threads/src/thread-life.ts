import { readFileSync, readlinkSync } from 'node:fs';

/** The time between two signs of life. */
const beatMs = 250;
/** The length of a clock tick in /proc: USER_HZ is 100 on every system that Node supports. */
const tickMs = 10;

const fields = { beats: 0, source: 1, thread: 2, begun: 3 } as const;

/** The state that a thread shows while it obeys an order, in memory shared with the thread that watches it. */
export class ThreadLife {
  readonly #shown: Int32Array<SharedArrayBuffer>;

  /** `shown` is the memory of another ThreadLife, to share it. */
  constructor(shown = new Int32Array(new SharedArrayBuffer(4 * Object.keys(fields).length))) {
    this.#shown = shown;
  }

  get shown(): Int32Array<SharedArrayBuffer> {
    return this.#shown;
  }

  /** Called by the thread itself: counts beats for as long as its event loop turns. */
  begin(): void {
    Atomics.store(this.#shown, fields.thread, ownNumber());
    Atomics.store(this.#shown, fields.begun, 1);
    setInterval(() => Atomics.add(this.#shown, fields.beats, 1), beatMs).unref();
  }

  /** Called by the thread itself: it now lists this source, given by its index in the job. */
  at(source: number): void {
    Atomics.store(this.#shown, fields.source, source);
  }

  get source(): number {
    return Atomics.load(this.#shown, fields.source);
  }

  /** Whether the program of the thread is loaded, with its native modules. */
  get hasBegun(): boolean {
    return Atomics.load(this.#shown, fields.begun) === 1;
  }

  get beats(): number {
    return Atomics.load(this.#shown, fields.beats);
  }

  /**
   * The processor time of the thread, in milliseconds; undefined if the system does not tell. A thread that waits for a
   * disk or a core uses none.
   */
  computedMs(): number | undefined {
    const thread = Atomics.load(this.#shown, fields.thread);
    if (thread === 0) return undefined;
    try {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1');
      // The name of the thread, in parentheses, may hold anything; utime and stime are the 12th and 13th after it.
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

/** The number of this thread on Linux; 0 elsewhere. */
function ownNumber(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return 0;
  }
}

import type { Clock } from '@halogrid/service/clock';

interface Happening {
  atMs: number;
  order: number;
  happen: () => void;
}

/**
 * Time that passes only from one event to the next. Events of the same moment happen in the order in which they were
 * added.
 */
export class VirtualClock implements Clock {
  /** The wall clock at time 0; it may jump. */
  wallStartMs = 1_700_000_000_000;
  #nowMs = 0;
  #order = 0;
  /** A binary heap: each event comes before the two at twice its index. */
  readonly #heap: Happening[] = [];

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.wallStartMs + this.#nowMs;
  }

  /** Calls `happen` in `ms` milliseconds. */
  after(ms: number, happen: () => void): void {
    const heap = this.#heap;
    let index = heap.push({ atMs: this.#nowMs + ms, order: this.#order++, happen }) - 1;
    for (let parent = (index - 1) >> 1; index > 0 && isBefore(heap[index]!, heap[parent]!); parent = (index - 1) >> 1) {
      swap(heap, index, parent);
      index = parent;
    }
  }

  /** Repeats `task` until the returned function is called. */
  every(ms: number, task: () => void): () => void {
    let isStopped = false;
    const repeat = (): void => {
      if (isStopped) return;
      task();
      this.after(ms, repeat);
    };
    this.after(ms, repeat);
    return () => {
      isStopped = true;
    };
  }

  /** Goes on to the next moment with events, and calls all of them. False if there are none. */
  step(): boolean {
    const first = this.#heap[0];
    if (!first) return false;
    this.#nowMs = first.atMs;
    while (this.#heap[0]?.atMs === this.#nowMs) this.#take().happen();
    return true;
  }

  #take(): Happening {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    heap[0] = last;
    for (let index = 0; ; ) {
      let least = index;
      for (const child of [2 * index + 1, 2 * index + 2]) {
        if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child;
      }
      if (least === index) return first;
      swap(heap, index, least);
      index = least;
    }
  }
}

const isBefore = (a: Happening, b: Happening): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

function swap(heap: Happening[], a: number, b: number): void {
  [heap[a], heap[b]] = [heap[b]!, heap[a]!];
}

/** Waits until all pending promises have settled, before time passes. Only the disk takes real time here. */
export async function settle(): Promise<void> {
  for (let quietTurns = 0; quietTurns < 2; quietTurns++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    // The end of a call to the disk is reported in the next turn.
    if (process.getActiveResourcesInfo().some(isUnderWay)) quietTurns = -1;
  }
}

/** Whether the disk is at work, or something, such as the journal, waits for the end of a turn of the event loop. */
const isUnderWay = (resource: string): boolean =>
  resource.startsWith('FSReq') || resource === 'CloseReq' || resource === 'Immediate';

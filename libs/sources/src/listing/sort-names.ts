import { type NameRun, RunFile } from './run-file.ts';
import { sortNatural } from './sort-natural.ts';
import { SortThread } from './sort-thread.ts';

export interface SortLimits {
  /** Names held in memory, in UTF-16 units and `costOfName` for each name. */
  heldUnits: number;
  /** Runs that are merged at once. */
  runs: number;
}

/** The memory of a name in an array besides its characters, in UTF-16 units. */
const costOfName = 24;

/**
 * Room for 95,000 names of 20 characters. Sorting them takes 40 ms (measured), in which the thread can do nothing else.
 * 64 runs have buffers of 64 KiB each: 6 million names are merged in one go, more in two.
 */
const defaultLimits: SortLimits = { heldUnits: 2 ** 22, runs: 64 };

/** Names that are handed out at once. */
const chunkNames = 1024;

type Compare = (a: string, b: string) => number;

/** The natural order of names; the first `from` characters of each are not part of the name. */
export interface NameOrder {
  from: number;
  compare: Compare;
  /** Whether many names are sorted on a thread. `compare` must then be compareNatural from `from` on. */
  onThread?: boolean;
}

/**
 * Sorts names without a NUL in bounded memory. Few names are sorted in memory. If there are many, sorted runs go to a
 * temporary file, each while the names of the next run come, and are then merged. Rejects if that file cannot be
 * written.
 */
export async function* sortNames(
  chunks: AsyncIterable<readonly string[]>,
  order: NameOrder,
  limits: SortLimits = defaultLimits,
): AsyncGenerator<string[], void, undefined> {
  let held: string[] = [];
  let heldUnits = 0;
  let spill: Spill | undefined;
  try {
    for await (const names of chunks) {
      for (const name of names) {
        held.push(name);
        heldUnits += name.length + costOfName;
        if (heldUnits < limits.heldUnits) continue;
        spill ??= new Spill(await RunFile.create(), order, limits.runs);
        await spill.add(held);
        held = [];
        heldUnits = 0;
      }
    }
    held = sortNatural(held, order.from, order.compare);
    if (spill) yield* await spill.merge(held);
    else for (let i = 0; i < held.length; i += chunkNames) yield held.slice(i, i + chunkNames);
  } finally {
    await spill?.close();
  }
}

/** Sorted runs in a file. As many as are merged at once become one run of the next level, so there are never many. */
class Spill {
  readonly #file: RunFile;
  readonly #order: NameOrder;
  readonly #maxRuns: number;
  readonly #levels: NameRun[][] = [];
  readonly #thread: SortThread | undefined;
  /** The run that is being sorted and written. */
  #underWay = Promise.resolve();

  constructor(file: RunFile, order: NameOrder, maxRuns: number) {
    this.#file = file;
    this.#order = order;
    this.#maxRuns = maxRuns;
    this.#thread = order.onThread ? new SortThread() : undefined;
  }

  /** Resolves, or rejects, when the names that were added before are written. */
  async add(names: string[]): Promise<void> {
    await this.#underWay;
    this.#underWay = this.#write(names);
    // The next wait for it meets a failure.
    this.#underWay.catch(() => {});
  }

  /** All names that were added, and `rest`, which is sorted already, as one sorted list. */
  async merge(rest: readonly string[]): Promise<AsyncGenerator<string[], void, undefined>> {
    await this.#underWay;
    const runs = this.#levels.flat().map((run) => this.#file.read(run));
    return mergeSorted([...runs, once(rest)], this.#order.compare);
  }

  /** Waits for the run that is being written. */
  async close(): Promise<void> {
    await this.#underWay.catch(() => {});
    await this.#thread?.close();
    await this.#file.close();
  }

  async #write(names: string[]): Promise<void> {
    const { from, compare } = this.#order;
    let run = this.#thread
      ? await this.#file.appendBytes(await this.#thread.sort(names, from))
      : await this.#file.append(sortNatural(names, from, compare));
    for (let level = 0; ; level++) {
      this.#levels[level] ??= [];
      const runs = this.#levels[level]!;
      runs.push(run);
      if (runs.length < this.#maxRuns) return;
      run = await this.#join(runs.splice(0));
    }
  }

  async #join(runs: readonly NameRun[]): Promise<NameRun> {
    let joined: NameRun | undefined;
    const sorted = mergeSorted(
      runs.map((run) => this.#file.read(run)),
      this.#order.compare,
    );
    for await (const chunk of sorted) joined = await this.#file.append(chunk, joined);
    return joined!;
  }
}

async function* once(names: readonly string[]): AsyncGenerator<readonly string[], void, undefined> {
  if (names.length > 0) yield names;
}

/** One of the inputs of a merge, at its next name. */
interface Cursor {
  name: string;
  names: readonly string[];
  at: number;
  more: AsyncIterator<readonly string[], void>;
}

/** Merges sorted lists into one. */
async function* mergeSorted(
  lists: readonly AsyncGenerator<readonly string[], void, undefined>[],
  compare: Compare,
): AsyncGenerator<string[], void, undefined> {
  // A heap by the next name: the first cursor has the smallest of all.
  const heap: Cursor[] = [];
  for (const more of lists) {
    const { value: names } = await more.next();
    if (names) heap.push({ name: names[0]!, names, at: 0, more });
  }
  for (let i = heap.length >> 1; i-- > 0; ) sink(heap, i, compare);
  let chunk: string[] = [];
  while (heap.length > 0) {
    const first = heap[0]!;
    chunk.push(first.name);
    if (++first.at === first.names.length) {
      const { value: names } = await first.more.next();
      first.names = names ?? [];
      first.at = 0;
    }
    const next = first.names[first.at];
    if (next !== undefined) first.name = next;
    else {
      const last = heap.pop()!;
      if (heap.length > 0) heap[0] = last;
    }
    sink(heap, 0, compare);
    if (chunk.length === chunkNames) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}

/** Moves the cursor at `i` down to where both below it are not smaller. */
function sink(heap: Cursor[], i: number, compare: Compare): void {
  for (let parent = i; ; ) {
    let least = parent;
    for (let child = 2 * parent + 1; child <= 2 * parent + 2 && child < heap.length; child++) {
      if (compare(heap[child]!.name, heap[least]!.name) < 0) least = child;
    }
    if (least === parent) return;
    [heap[parent], heap[least]] = [heap[least]!, heap[parent]!];
    parent = least;
  }
}

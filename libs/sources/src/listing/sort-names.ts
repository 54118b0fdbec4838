import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sortNatural } from './sort-natural.ts';

export interface SortLimits {
  /** Names held in memory, in UTF-16 units and `costOfName` for each name. */
  heldUnits: number;
  /** Runs that are merged at once. */
  runs: number;
}

/** A name in an array, beside its characters. */
const costOfName = 24;

/**
 * 95,000 names of 20 characters, which are sorted in 40 ms (measured) while the thread can do nothing else, and buffers of
 * 64 KiB for 64 runs: 6 million names are merged in one go, more in two.
 */
const defaultLimits: SortLimits = { heldUnits: 2 ** 22, runs: 64 };

/** Names that are handed out at once. */
const chunkNames = 1024;

type Compare = (a: string, b: string) => number;

/** The natural order of names, of which the first `from` characters are none of the name. */
export interface NameOrder {
  from: number;
  compare: Compare;
}

/**
 * Sorts names, none of which holds a NUL, in bounded memory. Few are sorted where they are; of many, sorted runs go to a
 * temporary file and are merged. Rejects when that file cannot be written.
 */
export async function* sortNames(
  chunks: AsyncIterable<readonly string[]>,
  { from, compare }: NameOrder,
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
        spill ??= new Spill(await RunFile.create(), compare, limits.runs);
        await spill.add(sortNatural(held, from, compare));
        held = [];
        heldUnits = 0;
      }
    }
    held = sortNatural(held, from, compare);
    if (spill) yield* spill.merge(held);
    else for (let i = 0; i < held.length; i += chunkNames) yield held.slice(i, i + chunkNames);
  } finally {
    await spill?.close();
  }
}

/** Sorted runs in a file. As many as are merged at once become one run of the next level, so there are never many. */
class Spill {
  readonly #file: RunFile;
  readonly #compare: Compare;
  readonly #maxRuns: number;
  readonly #levels: Run[][] = [];

  constructor(file: RunFile, compare: Compare, maxRuns: number) {
    this.#file = file;
    this.#compare = compare;
    this.#maxRuns = maxRuns;
  }

  async add(sorted: readonly string[]): Promise<void> {
    let run = await this.#file.append(sorted);
    for (let level = 0; ; level++) {
      this.#levels[level] ??= [];
      const runs = this.#levels[level]!;
      runs.push(run);
      if (runs.length < this.#maxRuns) return;
      run = await this.#join(runs.splice(0));
    }
  }

  /** Everything that was added, and `rest`. */
  merge(rest: readonly string[]): AsyncGenerator<string[], void, undefined> {
    return mergeSorted([...this.#levels.flat().map((run) => this.#file.read(run)), once(rest)], this.#compare);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #join(runs: readonly Run[]): Promise<Run> {
    let joined: Run | undefined;
    const sorted = mergeSorted(
      runs.map((run) => this.#file.read(run)),
      this.#compare,
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

/** Where a run of names lies in the file, in bytes. */
export interface Run {
  start: number;
  end: number;
}

/** Read of a run at once. */
const readBytes = 2 ** 16;

/** Runs of names in a temporary file, which has no name itself: it is gone when it is closed, or its process ends. */
export class RunFile {
  readonly #file: FileHandle;
  #end = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(): Promise<RunFile> {
    const path = join(tmpdir(), `halogrid-names-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    try {
      await unlink(path);
      return new RunFile(file);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Adds names to the last run of the file, or begins one where `run` is left out. Names hold no NUL. */
  async append(names: readonly string[], run: Run = { start: this.#end, end: this.#end }): Promise<Run> {
    const bytes = Buffer.from(`${names.join('\0')}\0`);
    const { bytesWritten } = await this.#file.write(bytes, 0, bytes.length, this.#end);
    if (bytesWritten < bytes.length) throw new Error(`The disk of '${tmpdir()}' is full`);
    this.#end += bytes.length;
    return { start: run.start, end: this.#end };
  }

  /** The names of a run, a few at once, in their order. */
  async *read({ start, end }: Run): AsyncGenerator<string[], void, undefined> {
    const buffer = Buffer.allocUnsafe(Math.min(readBytes, end - start));
    for (let at = start; at < end; ) {
      const { bytesRead } = await this.#file.read(buffer, 0, Math.min(buffer.length, end - at), at);
      const length = buffer.lastIndexOf(0, bytesRead - 1);
      if (length < 0) throw new Error('A temporary file of names is damaged');
      yield buffer.toString('utf8', 0, length).split('\0');
      at += length + 1;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

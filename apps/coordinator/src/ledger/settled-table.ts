import { quarantinedDigest } from '@halogrid/results/source-digest';
import type { Quarantine, SettledSource } from '../log/settled-source.ts';
import type { StoredFrames } from './stored-frames.ts';

const blockSources = 1024;
const digestBytes = 32;
const states = { open: 0, done: 1, quarantined: 2, stored: 3 } as const;

/** 48 bytes a source. */
class Columns {
  /** Widths and heights in turns, below 2^32 as everywhere in the protocol. */
  readonly sizes = new Uint32Array(2 * blockSources);
  readonly counted = new Float64Array(blockSources);
  readonly digests = new Uint8Array(digestBytes * blockSources);
}

/** Frames of which some are in a block of the table: sources `first` to `end` - 1 are from `row` on. */
interface Run {
  frames: StoredFrames;
  first: number;
  end: number;
  row: number;
}

/** A byte a source, and what is kept of those that came one by one. */
class Block {
  readonly states = new Uint8Array(blockSources);
  columns: Columns | undefined;
  readonly runs: Run[] = [];
}

/** A frame that is stored, and how many of those that follow it are so beside it. */
export interface StoredRow {
  frames: StoredFrames;
  row: number;
  left: number;
}

/**
 * What became of the sources that are done or quarantined, by index. Frames that were done together lie in a file, which the table
 * knows as runs; others are numbers in blocks, none of which is ever copied, so that memory grows by a little with every thousand
 * of them, and never at once. Only reasons are objects.
 */
export class SettledTable {
  readonly #blocks: (Block | undefined)[] = [];
  readonly #reasons = new Map<number, Quarantine>();

  /** undefined while the source is open. */
  state(index: number): SettledSource['state'] | undefined {
    const state = this.#blocks[Math.floor(index / blockSources)]?.states[index % blockSources];
    if (state === states.done || state === states.stored) return 'done';
    return state === states.quarantined ? 'quarantined' : undefined;
  }

  get(index: number): SettledSource | undefined {
    const state = this.state(index);
    if (state === undefined) return undefined;
    if (state === 'quarantined') return { state, reason: this.#reasons.get(index)! };
    const stored = this.stored(index);
    if (stored) return stored.frames.rows.settled(stored.row);
    const { columns, at } = this.#place(index);
    const size = { width: columns.sizes[2 * at]!, height: columns.sizes[2 * at + 1]! };
    const digest = columns.digests.subarray(digestBytes * at, digestBytes * (at + 1));
    return { state, size, counted: columns.counted[at]!, digest };
  }

  /** Where a frame is that was done with others; undefined for every other source. */
  stored(index: number): StoredRow | undefined {
    const block = this.#blocks[Math.floor(index / blockSources)];
    if (block?.states[index % blockSources] !== states.stored) return undefined;
    const run = block.runs.find(({ first, end }) => first <= index && index < end)!;
    return { frames: run.frames, row: run.row + index - run.first, left: run.end - index };
  }

  /** Settles a source, or gives another reason for its quarantine. */
  set(index: number, source: SettledSource): void {
    const { block, columns, at } = this.#place(index);
    block.states[at] = states[source.state];
    if (source.state === 'quarantined') {
      this.#reasons.set(index, source.reason);
      columns.digests.set(quarantinedDigest, digestBytes * at);
      return;
    }
    columns.sizes[2 * at] = source.size.width;
    columns.sizes[2 * at + 1] = source.size.height;
    columns.counted[at] = source.counted;
    columns.digests.set(source.digest, digestBytes * at);
  }

  /** Settles frames that are done. Throws where one of them is settled already. */
  setFrames(frames: StoredFrames): void {
    frames.sources.forEach((first, end) => {
      for (let from = first; from < end; ) {
        const number = Math.floor(from / blockSources);
        const to = Math.min(end, (number + 1) * blockSources);
        const settled = firstSettled(this.#blocks[number], from - number * blockSources, to - number * blockSources);
        if (settled >= 0) throw new Error(`Source ${number * blockSources + settled} is settled already`);
        from = to;
      }
    });
    frames.sources.forEach((first, end, row) => {
      for (let from = first; from < end; ) {
        const number = Math.floor(from / blockSources);
        const to = Math.min(end, (number + 1) * blockSources);
        const block = this.#block(number);
        block.states.fill(states.stored, from % blockSources, to - number * blockSources);
        block.runs.push({ frames, first, end, row });
        from = to;
      }
    });
  }

  /** Every source that is quarantined, in no order. */
  quarantined(): Iterable<[index: number, reason: Quarantine]> {
    return this.#reasons;
  }

  /** The digests of the sources below `count`, which are all settled, in order: some in a row at a time. */
  *digests(count: number): Generator<Uint8Array> {
    for (let from = 0; from < count; ) {
      const stored = this.stored(from);
      if (stored) {
        const { frames, row } = stored;
        const left = Math.min(stored.left, count - from);
        yield frames.rows.digests.subarray(digestBytes * row, digestBytes * (row + left));
        from += left;
        continue;
      }
      const { block, columns, at } = this.#place(from);
      let end = at;
      const most = Math.min(blockSources, at + count - from);
      while (end < most && block.states[end] !== states.stored) end++;
      yield columns.digests.subarray(digestBytes * at, digestBytes * end);
      from += end - at;
    }
  }

  #block(number: number): Block {
    this.#blocks[number] ??= new Block();
    return this.#blocks[number];
  }

  #place(index: number): { block: Block; columns: Columns; at: number } {
    const block = this.#block(Math.floor(index / blockSources));
    block.columns ??= new Columns();
    return { block, columns: block.columns, at: index % blockSources };
  }
}

/** The place of the first source of a block that is not open, from one place up to another, which is left out; -1 where all are. */
function firstSettled(block: Block | undefined, from: number, to: number): number {
  if (!block) return -1;
  const { states: known } = block;
  for (let at = from; at < to; at++) if (known[at] !== states.open) return at;
  return -1;
}

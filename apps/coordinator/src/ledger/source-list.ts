import { SourceBlock } from '@halogrid/sources/source-block';
import type { FrameOfVideo, PackedFrames } from '../job/shard.ts';
import { ByteReader } from './record/byte-reader.ts';
import { ByteWriter } from './record/byte-writer.ts';
import { readSteps, StepWriter } from './record/step-record.ts';

/** What the plan says of a source. */
export interface PlannedSource {
  uri: string;
  name: string;
  /** Results that make it; 0 for one that is quarantined at once. */
  tiles: number;
  video?: FrameOfVideo;
  /** The version of the file when it was listed, where the list knows it. */
  version?: string;
}

/** Sources a block at most of those that are added one by one: decoding one to read a single source of it takes 50 µs (measured). */
const blockSources = 256;

/** Sources that follow one another from `first` on. */
interface Part {
  first: number;
  /** Where they are packed. */
  frames?: PackedFrames;
  /** Reads them. */
  open(): PartReader;
}

/** A source in a block, and how many follow it there, itself included. */
export interface PlannedBlock {
  frames: PackedFrames;
  nth: number;
  left: number;
}

type PartReader = (nth: number) => PlannedSource;

/**
 * The sources of a job in the order of its plan. A million of them are more than memory should hold: those of packed frames are read
 * from where their block lies, and all others but the last are in blocks of bytes, written as the record of a plan is. Measured: 13
 * bytes for a frame of a folder, where objects and strings took 250. Reading one after another decodes each block once.
 */
export class SourceList {
  readonly #parts: Part[] = [];
  /** Those behind the parts. */
  #last: PlannedSource[] = [];
  #lastFirst = 0;
  /** The part that was read last. */
  #open: { part: Part; read: PartReader } | undefined;

  get length(): number {
    return this.#lastFirst + this.#last.length;
  }

  add(source: PlannedSource): void {
    if (this.#last.push(source) === blockSources) this.#closeLast();
  }

  /** Adds the next sources. Throws RangeError where they are not the next. */
  addFrames(frames: PackedFrames): void {
    const { first, count } = frames;
    if (first !== this.length) throw new RangeError(`Source ${first} is planned where ${this.length} is next`);
    if (this.#last.length > 0) this.#closeLast();
    this.#parts.push({ first, frames, open: () => readerOf(new SourceBlock(frames.block)) });
    this.#lastFirst += count;
  }

  /** The source with that index, which must be there. */
  get(index: number): PlannedSource {
    if (index >= this.#lastFirst) return this.#last[index - this.#lastFirst]!;
    const part = this.#partOf(index);
    if (this.#open?.part !== part) this.#open = { part, read: part.open() };
    return this.#open.read(index - part.first);
  }

  /** Undefined for a source that was added by itself, or is not there. */
  block(index: number): PlannedBlock | undefined {
    if (index >= this.#lastFirst) return undefined;
    const { frames, first } = this.#partOf(index);
    const nth = index - first;
    return frames && { frames, nth, left: frames.count - nth };
  }

  *[Symbol.iterator](): Generator<PlannedSource> {
    for (const [i, part] of this.#parts.entries()) {
      const read = part.open();
      const end = this.#parts[i + 1]?.first ?? this.#lastFirst;
      for (let nth = 0; nth < end - part.first; nth++) yield read(nth);
    }
    yield* this.#last;
  }

  #closeLast(): void {
    const block = encode(this.#last);
    this.#parts.push({
      first: this.#lastFirst,
      open: () => {
        const sources = decode(block);
        return (nth) => sources[nth]!;
      },
    });
    this.#lastFirst += this.#last.length;
    this.#last = [];
  }

  /** The last one that does not begin behind it. */
  #partOf(index: number): Part {
    let [low, high] = [0, this.#parts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#parts[middle]!.first <= index) low = middle;
      else high = middle - 1;
    }
    return this.#parts[low]!;
  }
}

const readerOf =
  (block: SourceBlock): PartReader =>
  (nth) => ({ ...plannedOf(block, nth), tiles: 1 });

/** The source at that place of a block, as it was planned. */
export function plannedOf(block: SourceBlock, nth: number): Omit<PlannedSource, 'tiles'> {
  const version = block.version(nth);
  return { uri: block.uri(nth), name: block.name(nth), ...(version !== undefined && { version }) };
}

function encode(sources: readonly PlannedSource[]): Uint8Array {
  const bytes = new ByteWriter();
  const writer = new StepWriter(bytes);
  for (const [index, source] of sources.entries()) writer.write({ kind: 'source', index, ...source });
  return new Uint8Array(bytes.bytes);
}

function decode(block: Uint8Array): PlannedSource[] {
  const sources: PlannedSource[] = [];
  for (const step of readSteps(new ByteReader(block), () => '')) if (step.kind === 'source') sources.push(step);
  return sources;
}

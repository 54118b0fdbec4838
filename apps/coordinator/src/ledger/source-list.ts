import type { FrameOfVideo } from '../job/shard.ts';
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
  /** Of the file when it was listed, where the list knows it. */
  version?: string;
}

/** Sources a block: decoding one to read a single source of it takes 50 µs (measured). */
const blockSources = 256;

/**
 * The sources of a job in the order of its plan. A million of them are more than memory should hold, so all but the last are
 * in blocks of bytes, written as the record of a plan is. Measured: 13 bytes for a frame of a folder, where objects and strings
 * took 250. Reading one after another decodes each block once.
 */
export class SourceList {
  readonly #blocks: Uint8Array[] = [];
  /** Those behind the blocks. */
  #last: PlannedSource[] = [];
  /** The block that was read last. */
  #read: { block: number; sources: PlannedSource[] } = { block: -1, sources: [] };

  get length(): number {
    return this.#blocks.length * blockSources + this.#last.length;
  }

  add(source: PlannedSource): void {
    if (this.#last.push(source) < blockSources) return;
    this.#blocks.push(encode(this.#last));
    this.#last = [];
  }

  /** The source with that index, which must be there. */
  get(index: number): PlannedSource {
    const block = Math.floor(index / blockSources);
    if (block === this.#blocks.length) return this.#last[index % blockSources]!;
    if (this.#read.block !== block) this.#read = { block, sources: decode(this.#blocks[block]!) };
    return this.#read.sources[index % blockSources]!;
  }

  *[Symbol.iterator](): Generator<PlannedSource> {
    for (const block of this.#blocks) yield* decode(block);
    yield* this.#last;
  }
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

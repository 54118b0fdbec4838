import { SourceBlock } from '@halogrid/sources/source-block';
import type { PackedFrames, PlanStep } from '../job/shard.ts';
import type { PlannedFact } from '../log/fact.ts';
import { readFact } from '../log/fact-codec.ts';
import type { FactPlace } from '../log/fact-place.ts';
import type { JobLog } from '../log/job-log.ts';
import { stepsOf } from './plan-facts.ts';
import { type PlannedSource, plannedOf } from './source-list.ts';

/** Planned facts that are held: those who read sources read them in order. */
const heldFacts = 4;

/** A source of the plan, and its place in a block of packed frames if it is in one. */
export interface LoggedSource {
  planned: PlannedSource;
  packed?: PackedSource;
}

/** Where a source lies in a block of packed frames. */
export interface PackedSource {
  nth: number;
  /** How many sources follow it in the block, itself included. */
  left: number;
  /** Where the log has the block; undefined until it is written. */
  block: FactPlace | undefined;
}

/** Reads the plan of a job from its log, or from what waits to be written. */
export class LoggedPlan {
  readonly #log: JobLog;
  /** By place. */
  readonly #held = new Map<string, ReadPlan>();

  constructor(log: JobLog) {
    this.#log = log;
  }

  /** A source that was planned. Waits for the disk. Throws one sentence where the log is not as it was written. */
  source(index: number): LoggedSource {
    return this.#with(index).source(index);
  }

  /** The block of packed frames of a shard. */
  block({ first }: Pick<PackedFrames, 'first'>): Uint8Array {
    return this.#with(first).packed(first).block;
  }

  /** The steps of each planned fact that is written, in order, and which shards are among them. */
  *written(): Generator<{ steps: readonly PlanStep[]; firstShard: number; endShard: number }> {
    for (const { place, firstShard, endShard } of this.#log.state.index.plannedFacts()) {
      if (place && this.#log.isWritten(place)) yield { steps: this.#read(place).steps, firstShard, endShard };
    }
  }

  /** The planned fact that has a source. */
  #with(source: number): ReadPlan {
    const planned = this.#log.state.index.planned(source);
    if (!planned) throw new RangeError(`There is no source ${source}`);
    const { place } = planned;
    if (place && this.#log.isWritten(place)) return this.#read(place);
    for (const fact of this.#log.waiting()) {
      const isIts = fact.kind === 'planned' && source >= fact.first && source < fact.first + fact.sources;
      if (isIts) return new ReadPlan(fact);
    }
    throw new RangeError(`The plan of source ${source} is neither written nor waits`);
  }

  #read(place: FactPlace): ReadPlan {
    const key = `${place.epoch} ${place.offset}`;
    let held = this.#held.get(key);
    if (!held) {
      const bytes = this.#log.read(place);
      held = new ReadPlan(readFact(bytes) as PlannedFact, { place, bytes });
    }
    this.#held.delete(key);
    this.#held.set(key, held);
    const [oldest] = this.#held.keys();
    if (this.#held.size > heldFacts) this.#held.delete(oldest!);
    return held;
  }
}

/** A planned fact whose steps are read. */
class ReadPlan {
  readonly steps: readonly PlanStep[];
  readonly place: FactPlace | undefined;
  readonly #first: number;
  readonly #bytes: Uint8Array | undefined;
  /** Of each source that has one: its step. */
  readonly #alone = new Map<number, PlannedSource>();
  readonly #packed: PackedFrames[] = [];
  #block: { of: PackedFrames; read: SourceBlock } | undefined;

  constructor(fact: PlannedFact, written?: { place: FactPlace; bytes: Uint8Array }) {
    this.steps = stepsOf(fact);
    this.place = written?.place;
    this.#bytes = written?.bytes;
    this.#first = fact.first;
    for (const step of this.steps) {
      if (step.kind === 'source') {
        const { uri, name, tiles, video, version } = step;
        const more = { ...(video && { video }), ...(version !== undefined && { version }) };
        this.#alone.set(step.index, { uri, name, tiles, ...more });
      } else if (step.kind === 'shard' && step.shard.work.kind === 'packed') this.#packed.push(step.shard.work);
    }
  }

  source(index: number): LoggedSource {
    const planned = this.#alone.get(index);
    if (planned) return { planned };
    const frames = this.packed(index);
    if (this.#block?.of !== frames) this.#block = { of: frames, read: new SourceBlock(frames.block) };
    const nth = index - frames.first;
    return {
      planned: { ...plannedOf(this.#block.read, nth), tiles: 1 },
      packed: { nth, left: frames.count - nth, block: this.#placeOf(frames.block) },
    };
  }

  /** The packed frames that a source is among. */
  packed(index: number): PackedFrames {
    const frames = this.#packed.find(({ first, count }) => index >= first && index < first + count);
    if (frames) return frames;
    throw new RangeError(`Source ${index} is not in the plan of source ${this.#first}`);
  }

  #placeOf(block: Uint8Array): FactPlace | undefined {
    if (!this.place || !this.#bytes) return undefined;
    const offset = this.place.offset + block.byteOffset - this.#bytes.byteOffset;
    return { epoch: this.place.epoch, offset, length: block.length };
  }
}

import { firstOf, type PlannedSources } from '@halogrid/jobs/planned-sources';
import type { PlanStep, Shard, ShardWork } from '@halogrid/jobs/shard';
import { SourceRuns } from '@halogrid/jobs/source-runs';
import { SourceBlock } from '@halogrid/sources/source-block';
import type { PlannedBlock, PlannedFact } from '../log/fact.ts';
import type { FactPlace } from '../log/fact-place.ts';
import { HeldFacts } from '../log/held-facts.ts';
import type { JobLog } from '../log/job-log.ts';

/** A source of the plan in its block. */
export interface LoggedSource {
  block: SourceBlock;
  nth: number;
  /**
   * Length of the run from this source on, itself included, whose sources follow one another both in the block and in
   * the job.
   */
  left: number;
  /** Where the log has the block; undefined until it is written. */
  place: FactPlace | undefined;
}

/** Reads the plan of a job from its log, or from facts that are not written yet. */
export class LoggedPlan {
  readonly #log: JobLog;
  readonly #held: HeldFacts<ReadPlan>;

  constructor(log: JobLog) {
    this.#log = log;
    this.#held = new HeldFacts((place) => {
      const { fact, bytes } = log.read(place);
      return new ReadPlan(fact as PlannedFact, { place, bytes });
    });
  }

  /** A planned source. Blocks on the disk. Throws one sentence if the log was changed by something else. */
  source(index: number): LoggedSource {
    const { nth, left, plan } = this.#with(index);
    return { block: plan.block, nth, left, place: plan.blockPlace };
  }

  /** The bytes of the block that a source is in. */
  block(source: number): Uint8Array {
    return this.#with(source).plan.sources.block;
  }

  /** The shard with a block that is read from the log at each access. */
  held(shard: Shard): Shard {
    return { ...shard, work: { ...shard.work, sources: new LoggedSources(shard.work.sources, this) } };
  }

  /** A planned shard that is written. Blocks on the disk. */
  shard(number: number): Shard {
    for (const { place, firstShard, endShard } of this.#written()) {
      if (number < firstShard || number >= endShard) continue;
      for (const step of this.#stepsOf(this.#held.at(place))) {
        if (step.kind === 'shard' && step.shard.shard === number) return this.held(step.shard);
      }
    }
    throw new RangeError(`There is no shard ${number}`);
  }

  /** The steps of each planned fact that is written, in order. */
  *steps(): Generator<PlanStep> {
    for (const { place } of this.#written()) yield* this.#stepsOf(this.#held.at(place));
  }

  /** Shards that are planned, written and not done. */
  *openShards(): Generator<Shard> {
    const { index } = this.#log.state;
    for (const { place, firstShard, endShard } of this.#written()) {
      let next = firstShard;
      while (next < endShard && index.isDone(next)) next++;
      if (next === endShard) continue;
      for (const step of this.#stepsOf(this.#held.at(place))) {
        if (step.kind === 'shard' && !index.isDone(step.shard.shard)) yield this.held(step.shard);
      }
    }
  }

  *#written(): Generator<{ place: FactPlace; firstShard: number; endShard: number }> {
    for (const { place, ...shards } of this.#log.state.index.plannedFacts()) {
      if (place && this.#log.isWritten(place)) yield { place, ...shards };
    }
  }

  *#stepsOf({ fact, planned }: ReadPlan): Generator<PlanStep> {
    if (planned) yield { kind: 'sources', sources: planned };
    for (const [i, { first, work, ...shard }] of fact.shards.entries()) {
      const sources = planned && firstOf(planned) === first ? planned : this.#with(first).plan.sources;
      const whole = { ...work, sources } as ShardWork;
      yield { kind: 'shard', shard: { shard: fact.firstShard + i, work: whole, ...shard } };
    }
  }

  /** The planned fact that has the block of a source, and where the source is in it. */
  #with(source: number): { plan: ReadPlan; nth: number; left: number } {
    const planned = this.#log.state.index.planned(source);
    if (!planned) throw new RangeError(`There is no source ${source}`);
    const { place, nth, left } = planned;
    if (place && this.#log.isWritten(place)) return { plan: this.#held.at(place), nth, left };
    for (const fact of this.#log.waiting()) {
      if (fact.kind === 'planned' && hasSource(fact, source)) return { plan: new ReadPlan(fact), nth, left };
    }
    throw new RangeError(`The plan of source ${source} is neither written nor waits`);
  }
}

function hasSource({ sources }: PlannedFact, source: number): boolean {
  const { runs = [] } = sources ?? {};
  return runs.some((first, i) => i % 2 === 0 && source >= first && source < first + runs[i + 1]!);
}

/** A planned fact that is read. */
class ReadPlan {
  readonly fact: PlannedFact;
  /** Its sources; undefined if it has only shards. */
  readonly planned: PlannedSources | undefined;
  /** Where the log has its block; undefined until it is written. */
  readonly blockPlace: FactPlace | undefined;
  #block: SourceBlock | undefined;

  constructor(fact: PlannedFact, written?: { place: FactPlace; bytes: Uint8Array }) {
    this.fact = fact;
    this.planned = fact.sources && plannedOf(fact.sources);
    if (!written || !fact.sources) return;
    const { place, bytes } = written;
    const { block } = fact.sources;
    const offset = place.offset + block.byteOffset - bytes.byteOffset;
    this.blockPlace = { epoch: place.epoch, offset, length: block.length };
  }

  get sources(): PlannedSources {
    return this.planned!;
  }

  get block(): SourceBlock {
    this.#block ??= new SourceBlock(this.sources.block);
    return this.#block;
  }
}

function plannedOf({ runs, ...more }: PlannedBlock): PlannedSources {
  const { runs: own, length: count } = new SourceRuns(Float64Array.from(runs));
  return { runs: own, count, ...more };
}

/** Sources of a plan. Their block is read from the log at each access. */
class LoggedSources implements PlannedSources {
  readonly runs: Float64Array;
  readonly count: number;
  readonly uri: string;
  readonly folders: readonly string[];
  readonly hasPreviews: boolean;
  readonly isPlain: boolean;
  readonly #plan: LoggedPlan;

  constructor({ runs, count, uri, folders, hasPreviews, isPlain }: Omit<PlannedSources, 'block'>, plan: LoggedPlan) {
    this.runs = runs;
    this.count = count;
    this.uri = uri;
    this.folders = folders;
    this.hasPreviews = hasPreviews;
    this.isPlain = isPlain;
    this.#plan = plan;
  }

  /** Blocks on the disk. Throws one sentence if the log was changed by something else. */
  get block(): Uint8Array {
    return this.#plan.block(firstOf(this));
  }
}

import { jobGrid, jobPipelines } from '@halogrid/jobs/accepted-job';
import type { PlanStep } from '@halogrid/jobs/shard';
import type { JobSpec } from '@halogrid/proto';
import { histogramShape } from '@halogrid/results/histogram-shape';
import type { BlockSource } from '@halogrid/sources/source-block';
import type { Fact } from '../log/fact.ts';
import { readFact } from '../log/fact-codec.ts';
import { countLogs, JobLog } from '../log/job-log.ts';
import type { LogPlace } from '../log/log-place.ts';
import type { LogMark } from '../registry/registry.ts';
import { LoggedPlan } from './logged-plan.ts';

/** Reads the logs of a job that no process leads. Writes nothing. */
export class LogReader {
  readonly #place: LogPlace;
  readonly #marks: readonly LogMark[];
  readonly #log: JobLog;
  readonly #plan: LoggedPlan;

  /** Whether there is a log with a whole group; does not read all of it. Rejects with DamagedLogError. */
  static async isThere(place: LogPlace): Promise<boolean> {
    return (await countLogs(place)) !== undefined;
  }

  /** Undefined if there is no log with a whole group. Rejects with DamagedLogError. */
  static async open(place: LogPlace, spec: JobSpec): Promise<LogReader | undefined> {
    const marks = await countLogs(place);
    if (!marks) return undefined;
    const shapes = jobPipelines(spec).map((pipeline) => histogramShape(pipeline, jobGrid(spec)));
    const log = await JobLog.takeOver({ place, epoch: marks.at(-1)!.epoch + 1, shapes }, marks);
    return new LogReader(place, marks, log);
  }

  private constructor(place: LogPlace, marks: readonly LogMark[], log: JobLog) {
    this.#place = place;
    this.#marks = marks;
    this.#log = log;
    this.#plan = new LoggedPlan(log);
  }

  /** How many sources are planned. */
  get sources(): number {
    return this.#log.state.index.sources;
  }

  /** Whether the plan is whole. */
  get planned(): boolean {
    return this.#log.state.planned;
  }

  /** Notes for people about the sources. */
  get notes(): readonly string[] {
    return this.#log.state.notes;
  }

  /** The steps of the plan, in order. Blocks on the disk. */
  plan(): Generator<PlanStep> {
    return this.#plan.steps();
  }

  /** A planned source. Blocks on the disk. */
  source(index: number): BlockSource {
    const { block, nth } = this.#plan.source(index);
    return block.get(nth);
  }

  /** All facts that count, in order, without checkpoints. Rejects with DamagedLogError. */
  async *facts(): AsyncGenerator<Fact, void, undefined> {
    for (const { epoch, bytes } of this.#marks) {
      for await (const group of this.#place.groups(epoch, 0, bytes)) {
        for (const packed of group.facts) {
          const fact = readFact(packed);
          if (fact.kind !== 'checkpoint') yield fact;
        }
      }
    }
  }
}

import type { JobSpec } from '@halogrid/proto';
import { firstOf, indexesOf, readSources } from '../job/planned-sources.ts';
import type { KeptResult, PlanStep, Shard, ShardWork, SourceError } from '../job/shard.ts';
import { SourceRuns } from '../job/source-runs.ts';
import { digestOfAll } from '../log/digest.ts';
import {
  type AnswerFact,
  type Fact,
  isEnd,
  type LedgerState,
  type PlannedBlock,
  type SourceFault,
} from '../log/fact.ts';
import { foundPart, packCounts, packSums, wholeBins } from '../log/found-part.ts';
import type { JobLog } from '../log/job-log.ts';
import { reasonsOf } from '../log/job-state.ts';
import type { Journaled } from '../log/journal.ts';
import type { JobChange } from '../registry/registry.ts';
import { checkAnswers, checkMended, framesWithout, InvalidResultError } from './check-answer.ts';
import type { FrameOrder, FrameSummary } from './frame-summary.ts';
import type { JobRecord, JobResults, OpenShard, ShardCommit } from './ledger.ts';
import { LoggedPlan } from './logged-plan.ts';
import { type LoggedPart, LoggedResults, loggedParts } from './logged-results.ts';
import { planFacts } from './plan-facts.ts';
import { statusOf } from './registered-record.ts';

/**
 * A job that has not ended, as its leader knows it: makes facts of what it is told, checked, and adds them to the job's
 * log.
 */
export class LoggedJob implements Journaled {
  readonly jobId: string;
  readonly spec: JobSpec;
  readonly parts: readonly LoggedPart[];
  readonly log: JobLog;
  readonly plan: LoggedPlan;
  readonly found: LoggedResults;
  /** Shards that were planned by this process or taken up, and are not done. */
  readonly shards = new Map<number, Shard>();
  /** Whether the registry has heard of the job. */
  #isKnown: boolean;
  #hasEnded = false;
  #isClosed = false;
  #appending = Promise.resolve();

  /** `isKnown`: the registry has the job. */
  constructor(jobId: string, spec: JobSpec, log: JobLog, isKnown: boolean) {
    this.jobId = jobId;
    this.spec = spec;
    this.parts = loggedParts(spec);
    this.log = log;
    this.plan = new LoggedPlan(log);
    this.found = new LoggedResults(spec, this.parts, log, this.plan);
    this.#isKnown = isKnown;
  }

  get record(): JobRecord {
    const { state } = this.log;
    const { index, counts, quarantined, mended, mendedUris, nodes } = state;
    const uriOf = (source: number): string => quarantined.get(source)?.uri ?? mendedUris.get(source) ?? '';
    const told = mended.list(uriOf);
    const nodesUsed = nodes.filter(({ shards }) => shards > 0).length;
    const { kept, ...others } = counts;
    return {
      ...{ jobId: this.jobId, spec: this.spec, state: state.state, submittedMs: state.submittedMs },
      ...{ finishedMs: state.finishedMs, error: state.error, digest: state.digest, planned: state.planned },
      counts: {
        ...{ sources: index.sources, shards: index.shards, quarantined: quarantined.size },
        ...others,
        ...(kept > 0 && { kept }),
      },
      ...(state.notes.length > 0 && { notes: state.notes }),
      ...(quarantined.size > 0 && { reasons: reasonsOf(state).list(uriOf) }),
      ...(told.length > 0 && { mended: told }),
      nodesUsed,
      ...(nodesUsed > 0 && { times: structuredClone(state.times) }),
      ...(state.canGoOn && { canGoOn: true as const }),
    };
  }

  addPlan(steps: readonly PlanStep[], isLast: boolean): void {
    for (const { fact, kept } of planFacts(steps, isLast, this.log.state.index.shards)) {
      // Without its results a source that is kept would be done by nobody.
      this.log.add(fact, ...(kept.length > 0 ? this.#keptFacts(fact.sources!, kept) : []));
    }
    for (const step of steps) {
      if (step.kind === 'shard') this.shards.set(step.shard.shard, this.plan.held(step.shard));
    }
  }

  setState(state: LedgerState, at: { nowMs: number; error?: string; digest?: string; canGoOn?: boolean }): void {
    const { error = '', digest = '', canGoOn = false } = at;
    if (state === 'finalising') this.log.add({ kind: 'time', moment: 'computedMs', atMs: at.nowMs });
    this.log.add({ kind: 'state', state, finishedMs: isEnd(state) ? at.nowMs : 0, error, digest, canGoOn });
  }

  setNotes(notes: readonly string[]): void {
    this.log.add({ kind: 'notes', notes });
  }

  /** The first time counts. */
  noteTime(moment: 'leasedMs' | 'listedMs', atMs: number): void {
    if (this.log.state.times[moment] === 0) this.log.add({ kind: 'time', moment, atMs });
  }

  addAttempt(shard: number, attempt: number): void {
    const { index, attempts } = this.log.state;
    if (index.isDone(shard) || attempt <= (attempts.get(shard) ?? 0)) return;
    this.log.add({ kind: 'attempt', shard, attempt });
  }

  /**
   * What is to be summarised of an answer of frames; undefined where the shard was done before, and where the answer
   * has results. Throws InvalidResultError where it is not of the sources of the shard.
   */
  frameOrder({ shard, found, results, errors }: ShardCommit): FrameOrder | undefined {
    const open = this.#open(shard);
    if (!open || !found) return undefined;
    if (results.length > 0) throw new InvalidResultError('There are results beside those of frames');
    const { runs } = framesWithout(open.work, found.frames, errors);
    const shapes = this.parts.map(({ shape }) => shape);
    return { shapes, runs, keepsTimes: !this.found.goesByMtime, table: found.table, counts: found.counts };
  }

  /**
   * False where the shard was done before. `frames` are what `frameOrder` gave, and their summary; without them the
   * answer has results. Throws InvalidResultError, and changes nothing.
   */
  commit(commit: ShardCommit, frames?: { runs: Float64Array; summary: FrameSummary }): boolean {
    const open = this.#open(commit.shard);
    if (!open) return false;
    const { work } = open;
    checkMended(work, commit.mended ?? [], commit.errors);
    const make = frames ? (said: Said) => framesFact(said, commit, frames) : this.#resultsFact(work, commit);
    const { shard, attempt, node, errors, mended = [], stageSeconds, busySeconds = {} } = commit;
    const uriOf = urisOf(work);
    const said: Said = {
      ...{ shard, attempt, node: this.#nodeNumber(node), stageSeconds, busySeconds },
      errors: errors.map((error) => faultOf(error, uriOf)),
      mended: mended.map(({ mended, sources, source }) => ({ mended, sources, source, uri: uriOf(source) })),
    };
    this.log.add(make(said));
    this.shards.delete(shard);
    return true;
  }

  quarantineShard(shard: number, error: string, attempts: number): void {
    const open = this.#open(shard);
    if (!open) return;
    const uriOf = urisOf(open.work);
    const errors = indexesOf(open.work).map((source) => faultOf({ source, stage: 'compute', error }, uriOf));
    this.log.add({ kind: 'given-up', shard, attempts, errors });
    this.shards.delete(shard);
  }

  skipShard(shard: number): void {
    if (!this.#open(shard)) return;
    this.log.add({ kind: 'skipped', shard });
    this.shards.delete(shard);
  }

  results(): Omit<JobResults, 'plan' | 'parts'> & {
    parts?: { name: string; results: Omit<JobResults, 'plan' | 'parts'> }[];
  } {
    const { record } = this;
    const { planned, counts } = record;
    if (!planned || counts.shardsDone < counts.shards) {
      throw new Error(`Job ${this.jobId} has ${counts.shardsDone} of ${counts.shards} shards done and is not ready`);
    }
    const { times, nodes } = this.log.state;
    const name = ({ name, device }: { name: string; device: string }): string => `${name}\n${device}`;
    const common = {
      stageSeconds: { ...times.stageSeconds },
      nodes: nodes
        .filter(({ shards }) => shards > 0)
        .sort((a, b) => (name(a) < name(b) ? -1 : 1))
        .map((node) => ({ ...node })),
    };
    const parts = this.found.results().map((found, i) => {
      const part = this.parts[i]!;
      return { name: part.name, results: { job: { ...record, spec: part.spec }, ...common, ...found } };
    });
    const [{ name: first, results }] = parts as [(typeof parts)[number]];
    if (first === '') return results;
    const digest = digestOfAll(parts.map((part) => ({ name: part.name, digest: part.results.digest })));
    return { ...results, job: record, digest, parts };
  }

  /**
   * Shards that are not done, as an earlier process planned them. Throws one sentence where the log is not as it was
   * written.
   */
  takeUp(): OpenShard[] {
    const { attempts } = this.log.state;
    this.shards.clear();
    for (const shard of this.plan.openShards()) this.shards.set(shard.shard, shard);
    return [...this.shards.values()].map((shard) => ({ shard, attempts: attempts.get(shard.shard) ?? 0 }));
  }

  /** What the registry keeps of the job. */
  get status(): string {
    return statusOf(this.record);
  }

  async append(): Promise<readonly JobChange[]> {
    if (this.#isClosed) throw new Error('The ledger is closed');
    // Nobody asks what became of a shard of a job that has ended.
    if (this.#hasEnded) return [];
    const { status, jobId } = this;
    this.#appending = this.log.append();
    await this.#appending;
    const { marks } = this.log;
    const changes: JobChange[] = this.#isKnown
      ? [{ kind: 'note', jobId, status, marks }]
      : [{ kind: 'begin', jobId, spec: JSON.stringify(this.spec), status, marks }];
    this.#isKnown = true;
    return changes;
  }

  /** What the registry is told first where nothing of the job could be written to its log before it ended. */
  get unknown(): JobChange[] {
    const { jobId, status } = this;
    return this.#isKnown ? [] : [{ kind: 'begin', jobId, spec: JSON.stringify(this.spec), status, marks: [] }];
  }

  /** The job has ended: nothing more of it is written. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#appending.catch(() => {});
    await this.log.close();
  }

  /** The job goes on without this process: what is not written now is refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.end();
  }

  #open(shard: number): Shard | undefined {
    const { index } = this.log.state;
    if (!(shard >= 0 && shard < index.shards)) throw new Error(`Job ${this.jobId} has no shard ${shard}`);
    if (index.isDone(shard)) return undefined;
    const known = this.shards.get(shard);
    if (!known) throw new Error(`Shard ${shard} of job ${this.jobId} was not taken up`);
    return known;
  }

  /** That of a node, which is added where it is met for the first time. */
  #nodeNumber({ name, device }: { name: string; device: string }): number {
    const { nodes } = this.log.state;
    const known = nodes.findIndex((node) => node.name === name && node.device === device);
    if (known >= 0) return known + 1;
    this.log.add({ kind: 'node', name, device });
    return nodes.length;
  }

  /** Throws InvalidResultError. */
  #resultsFact(work: ShardWork, commit: ShardCommit): (said: Said) => Fact {
    const shapes = this.parts.map(({ shape }) => shape);
    const byPart = checkAnswers(work, commit, shapes);
    if (work.kind === 'tile') {
      const { rect, size } = work;
      const source = firstOf(work.sources);
      const captured = this.found.goesByMtime ? undefined : byPart[0]![0]?.captured;
      const parts = byPart.flatMap(([result]) =>
        result ? [{ counted: result.counted, binCount: result.bins.length, bins: packCounts(result.bins) }] : [],
      );
      return (said) => ({
        ...{ kind: 'tile', ...said, source, size, rect },
        ...(captured && { captured }),
        ...(parts.length > 0 && { parts }),
      });
    }
    return (said) => {
      const sorted = byPart.map((results) => results.toSorted((a, b) => a.source - b.source));
      const sources = sorted[0]!.map(({ source }) => source);
      const parts = sorted.map((results, i) => {
        const isTimed = i === 0 && !this.found.goesByMtime;
        return foundPart(
          shapes[i]!,
          results.map(({ size, counted, bins, captured }) => {
            const whole = wholeBins(shapes[i]!, { size, bins });
            return { size, counted, bins: whole, ...(isTimed && captured && { captured }) };
          }),
        );
      });
      const isTimed = !this.found.goesByMtime && sorted[0]!.some(({ captured }) => captured !== undefined);
      const pixels = sorted[0]!.reduce((sum, { size }) => sum + size.width * size.height, 0);
      return {
        kind: 'answer',
        ...said,
        runs: [...SourceRuns.of(sources).runs],
        found: sources.length,
        pixels,
        isTimed,
        parts,
      };
    };
  }

  /** The earlier results of those of the sources that are kept. */
  #keptFacts(sources: Pick<PlannedBlock, 'block'>, results: readonly KeptResult[]): Fact[] {
    const kept = [...readSources(sources)].filter((source) => source.kept !== undefined);
    return kept.map(({ index }, i) => this.#keptFact(index, results[i]!));
  }

  #keptFact(source: number, { size, parts, captured }: KeptResult): Fact {
    const time = captured && !this.found.goesByMtime ? captured : undefined;
    const found = parts.map(({ counted, bins }, i) =>
      foundPart(this.parts[i]!.shape, [{ size, counted, bins, ...(i === 0 && time && { captured: time }) }]),
    );
    const pixels = size.width * size.height;
    return { kind: 'whole', source, isKept: true, found: 1, pixels, isTimed: time !== undefined, parts: found };
  }
}

/** What all facts of answers say. */
type Said = Pick<AnswerFact, 'shard' | 'attempt' | 'node' | 'errors' | 'mended' | 'stageSeconds' | 'busySeconds'>;

function framesFact(
  said: Said,
  { found }: ShardCommit,
  { runs, summary }: { runs: Float64Array; summary: FrameSummary },
): AnswerFact {
  const parts = summary.parts.map(({ counted, sums, stored, countsBytes, rowsChecksum }) => {
    return { ...packSums(counted, sums), stored, countsBytes, rowsChecksum };
  });
  const { frames, pixels } = found!;
  return { kind: 'answer', ...said, runs: [...runs], found: frames, pixels, isTimed: summary.isTimed, parts };
}

const faultOf = ({ source, stage, error }: SourceError, uriOf: (source: number) => string): SourceFault => ({
  ...{ source, uri: uriOf(source), stage, error },
});

/** URIs of the sources of a shard, which are read once one is asked for. */
function urisOf(work: ShardWork): (source: number) => string {
  let uris: Map<number, string> | undefined;
  return (source) => {
    uris ??= new Map(Array.from(readSources(work.sources), ({ index, uri }) => [index, uri]));
    return uris.get(source) ?? '';
  };
}

import { jobGrid, jobParts } from '@halogrid/jobs/accepted-job';
import { firstOf, indexesOf, readSources } from '@halogrid/jobs/planned-sources';
import type { PlanStep, Shard, ShardWork, SourceError } from '@halogrid/jobs/shard';
import type { JobPause, JobSpec } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { type HistogramShape, histogramShape } from '@halogrid/results/histogram-shape';
import { packCounts } from '@halogrid/results/part-sums';
import type { FoundInPart } from '@halogrid/results/part-writer';
import { checkMended } from '../checks/check-answer.ts';
import { checkFound } from '../checks/check-found.ts';
import { checkTile } from '../checks/check-tile.ts';
import type { JobRecord, JobResults, OpenShards, ShardCommit, Withdrawn } from '../ledger/ledger.ts';
import { statusOf } from '../ledger/registered-record.ts';
import { type AnswerFact, type Fact, isEnd, type LedgerState, type SourceFault } from '../log/fact.ts';
import type { JobLog } from '../log/job-log.ts';
import { reasonsOf } from '../log/job-state.ts';
import type { Journaled } from '../log/journal.ts';
import type { JobChange } from '../registry/registry.ts';
import { LoggedPlan } from './logged-plan.ts';
import { planFacts } from './plan-facts.ts';
import { SettledIndex } from './settled-index.ts';
import { wholeShard } from './whole-shard.ts';

/** A pipeline of a job. */
export interface LoggedPart {
  name: string;
  /** The specification of a job that has only this pipeline. */
  spec: JobSpec;
  shape: HistogramShape;
}

/** Writes the results of some blocks to a part of the job; resolves with their places once they are durable. */
export type WritePart = (found: readonly FoundShard[]) => Promise<FoundInPart[]>;

/**
 * A job that has not ended, in the process that leads it. Checks changes, turns them into facts, and adds these to the
 * job's log.
 */
export class LoggedJob implements Journaled {
  readonly jobId: string;
  readonly spec: JobSpec;
  readonly parts: readonly LoggedPart[];
  readonly log: JobLog;
  readonly plan: LoggedPlan;
  readonly settled: SettledIndex;
  /** Open shards that this process planned or resumed. */
  readonly shards = new Map<number, Shard>();
  readonly #writePart: WritePart;
  /** Images whose tiles have all arrived but whose results are not written yet. */
  readonly #whole = new Set<number>();
  /** Whether the registry has the job. */
  #isKnown: boolean;
  #hasEnded = false;
  #isClosed = false;
  #appending = Promise.resolve();

  /** `isKnown`: the registry has the job. */
  constructor(jobId: string, spec: JobSpec, log: JobLog, writePart: WritePart, isKnown: boolean) {
    this.jobId = jobId;
    this.spec = spec;
    const grid = jobGrid(spec);
    this.parts = jobParts(spec).map(({ name, spec, pipeline }) => ({
      name,
      spec,
      shape: histogramShape(pipeline, grid),
    }));
    this.log = log;
    this.plan = new LoggedPlan(log);
    this.settled = new SettledIndex(log, this.plan);
    this.#writePart = writePart;
    this.#isKnown = isKnown;
    // The earlier leader may have ended before it wrote them.
    for (const [source, { tilesLeft }] of log.state.open) if (tilesLeft === 0) this.#whole.add(source);
  }

  get record(): JobRecord {
    const { state } = this.log;
    const { index, counts, quarantined, mended, mendedUris, nodes } = state;
    const uriOf = (source: number): string => quarantined.get(source)?.uri ?? mendedUris.get(source) ?? '';
    const told = mended.list(uriOf);
    const nodesUsed = nodes.filter(({ shards }) => shards > 0).length;
    const { kept, ...others } = counts;
    return {
      jobId: this.jobId,
      spec: this.spec,
      state: state.state,
      submittedMs: state.submittedMs,
      finishedMs: state.finishedMs,
      error: state.error,
      digest: state.digest,
      planned: state.planned,
      counts: {
        sources: index.sources,
        quarantined: quarantined.size,
        ...others,
        ...(kept > 0 && { kept }),
      },
      ...(state.notes.length > 0 && { notes: state.notes }),
      ...(quarantined.size > 0 && { reasons: reasonsOf(state).list(uriOf) }),
      ...(told.length > 0 && { mended: told }),
      nodesUsed,
      ...(nodesUsed > 0 && { times: structuredClone(state.times) }),
      ...(state.owner && { owner: state.owner }),
      ...(state.paused && { paused: state.paused }),
      ...(state.canGoOn && { canGoOn: true as const }),
    };
  }

  addPlan(steps: readonly PlanStep[], isLast: boolean): void {
    for (const fact of planFacts(steps, isLast, this.log.state.index.shards)) this.log.add(fact);
    for (const step of steps) {
      if (step.kind !== 'shard' || step.shard.elsewhere) continue;
      this.shards.set(step.shard.shard, this.plan.held(step.shard));
    }
  }

  setState(state: LedgerState, at: { nowMs: number; error?: string; digest?: string; canGoOn?: boolean }): void {
    const { error = '', digest = '', canGoOn = false } = at;
    if (state === 'finalising') this.log.add({ kind: 'time', moment: 'computedMs', atMs: at.nowMs });
    this.log.add({ kind: 'state', state, finishedMs: isEnd(state) ? at.nowMs : 0, error, digest, canGoOn });
  }

  setPaused(paused: JobPause | undefined): void {
    if (paused || this.log.state.paused) this.log.add({ kind: 'paused', paused });
  }

  setNotes(notes: readonly string[]): void {
    this.log.add({ kind: 'notes', notes });
  }

  /** Records when the job first reached the moment; later calls change nothing. */
  noteTime(moment: 'leasedMs' | 'listedMs', atMs: number): void {
    if (this.log.state.times[moment] === 0) this.log.add({ kind: 'time', moment, atMs });
  }

  addAttempt(shard: number, attempt: number): void {
    const { index, attempts } = this.log.state;
    if (index.isDone(shard) || attempt <= (attempts.get(shard) ?? 0)) return;
    this.log.add({ kind: 'attempt', shard, attempt });
  }

  /** False if the shard was done before. Throws InvalidResultError, and then changes nothing. */
  commit(commit: ShardCommit): boolean {
    const open = this.#open(commit.shard);
    if (!open) return false;
    const { work } = open;
    checkMended(work, commit.mended ?? [], commit.errors);
    const make = this.#answered(work, commit);
    const { shard, attempt, node, errors, mended = [], stageSeconds, busySeconds = {} } = commit;
    const uriOf = urisOf(work);
    const said: Said = {
      shard,
      attempt,
      node: node ? this.#nodeNumber(node) : 0,
      stageSeconds,
      busySeconds,
      errors: errors.map((error) => faultOf(error, uriOf)),
      mended: mended.map(({ mended, sources, source }) => ({ mended, sources, source, uri: uriOf(source) })),
    };
    const fact = make(said);
    this.log.add(fact);
    this.shards.delete(shard);
    if (fact.kind === 'tile' && this.log.state.open.get(fact.source)?.tilesLeft === 0) this.#whole.add(fact.source);
    return true;
  }

  /**
   * Withdraws the answer to a shard, which is then open again; undefined if it is not done. Blocks on the disk. Throws
   * one sentence if the log was changed by something else.
   */
  withdraw(shard: number): Withdrawn | undefined {
    const answer = this.settled.answer(shard);
    if (!answer) return undefined;
    const { node, attempt, found, pixels, parts, errors, mended } = answer;
    this.log.add({ kind: 'withdrawn', shard, attempt, node, found, pixels, parts, errors, mended });
    const open = this.plan.shard(shard);
    this.shards.set(shard, open);
    const { nodes } = this.log.state;
    const name = nodes[node - 1]?.name;
    const again = { shard: open, attempts: attempt, withdrawn: attempt };
    return { open: again, ...(name !== undefined && { node: name }), ...this.#planned };
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

  results(): FoundResults & {
    parts?: { name: string; results: FoundResults }[];
  } {
    const { record } = this;
    const { planned, counts } = record;
    if (!planned || !this.log.state.index.areAllDone) {
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
    const parts = this.parts.map(({ name, spec }, i) => {
      const { counted, totals } = this.log.state.parts[i]!;
      return { name, results: { job: { ...record, spec }, ...common, counted, bins: totals.sums.slice() } };
    });
    const [{ name: first, results }] = parts as [(typeof parts)[number]];
    return first === '' ? results : { ...results, job: record, parts };
  }

  /** Open shards that an earlier process planned. Throws one sentence if the log was changed by something else. */
  takeUp(): OpenShards {
    const { attempts, withdrawn } = this.log.state;
    this.shards.clear();
    for (const shard of this.plan.openShards()) this.shards.set(shard.shard, shard);
    const open = [...this.shards.values()].map((shard) => {
      return { shard, attempts: attempts.get(shard.shard) ?? 0, withdrawn: withdrawn.get(shard.shard) };
    });
    return { open, ...this.#planned };
  }

  get #planned(): Omit<OpenShards, 'open'> {
    const { index, counts } = this.log.state;
    return { planned: index.shards, kept: index.shards - counts.shards };
  }

  /** The job's row for the registry. */
  get status(): string {
    return statusOf(this.record);
  }

  async append(): Promise<readonly JobChange[]> {
    if (this.#isClosed) throw new Error('The ledger is closed');
    // The shards of an ended job are not needed any more.
    if (this.#hasEnded) return [];
    this.#appending = this.#write();
    await this.#appending;
    const { status, jobId } = this;
    const { marks } = this.log;
    const changes: JobChange[] = this.#isKnown
      ? [{ kind: 'note', jobId, status, marks }]
      : [{ kind: 'begin', jobId, spec: JSON.stringify(this.spec), status, marks }];
    this.#isKnown = true;
    return changes;
  }

  /** Results of whole images are written before the facts with their places. */
  async #write(): Promise<void> {
    const whole = [...this.#whole];
    const { open } = this.log.state;
    const found = whole.map((source) => wholeShard(this.plan.block(source), open.get(source)!));
    const written = found.length > 0 ? await this.#writePart(found) : [];
    for (const [i, source] of whole.entries()) {
      this.#whole.delete(source);
      // Its pixels were counted tile by tile.
      this.log.add({ kind: 'whole', source, ...written[i]! });
    }
    await this.log.append();
  }

  /** The first change for the registry if nothing could be written to the log before the job ended. */
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

  /** The job goes on without this process: unwritten changes are refused. */
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

  /** The number of a node. A new node gets the next number with its first answer. */
  #nodeNumber({ name, device }: NonNullable<ShardCommit['node']>): number {
    const { nodes } = this.log.state;
    const known = nodes.findIndex((node) => node.name === name && node.device === device);
    if (known >= 0) return known + 1;
    this.log.add({ kind: 'node', name, device });
    return nodes.length;
  }

  /** Throws InvalidResultError. */
  #answered(work: ShardWork, commit: ShardCommit): (said: Said) => Fact {
    const shapes = this.parts.map(({ shape }) => shape);
    if (work.kind !== 'tile') {
      const found = checkFound(work, commit, shapes);
      return (said) => ({ kind: 'answer', ...said, ...found });
    }
    const { rect, size } = work;
    const results = checkTile(work, commit, shapes);
    const source = firstOf(work.sources);
    const captured = results[0]?.captured;
    const parts = results.map(({ counted, bins }) => ({ counted, binCount: bins.length, bins: packCounts(bins) }));
    return (said) => ({
      kind: 'tile',
      ...said,
      source,
      size,
      rect,
      captured,
      ...(parts.length > 0 && { parts }),
    });
  }
}

/** Results without the functions that read the log. */
type FoundResults = Omit<JobResults, 'plan' | 'settled' | 'parts'>;

/** The fields of every fact of an answer. */
type Said = Pick<AnswerFact, 'shard' | 'attempt' | 'node' | 'errors' | 'mended' | 'stageSeconds' | 'busySeconds'>;

const faultOf = ({ source, stage, error }: SourceError, uriOf: (source: number) => string): SourceFault => ({
  source,
  uri: uriOf(source),
  stage,
  error,
});

/** URIs of the sources of a shard, which are read once one is asked for. */
function urisOf(work: ShardWork): (source: number) => string {
  let uris: Map<number, string> | undefined;
  return (source) => {
    uris ??= new Map(Array.from(readSources(work.sources), ({ index, uri }) => [index, uri]));
    return uris.get(source) ?? '';
  };
}

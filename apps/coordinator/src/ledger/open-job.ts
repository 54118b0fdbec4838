import type { JobSpec, JobTimes } from '@halogrid/proto';
import { resultsVersion } from '@halogrid/service/version';
import type { CaptureTime } from '@halogrid/sources/captured';
import { jobParts } from '../job/accepted-job.ts';
import { firstOf, indexesOf, readSources } from '../job/planned-sources.ts';
import type { KeptResult, PlanStep, ShardWork } from '../job/shard.ts';
import { checkAnswers, checkMended, framesWithout, InvalidResultError } from './check-answer.ts';
import { digestOfAll } from './digest.ts';
import type { FrameOrder, FrameSummary } from './frame-summary.ts';
import { JobCaptures } from './job-captures.ts';
import { encodeJob, encodeTotals, specEntry } from './job-record.ts';
import { JobSums, type OpenSpool } from './job-sums.ts';
import type { Journaled } from './journal.ts';
import type { JobFacts, JobRecord, JobResults, OpenShard, ShardCommit } from './ledger.ts';
import { MendedInputCounts } from './mended-inputs.ts';
import type { Merge } from './merge.ts';
import { openChanges } from './open-source-entries.ts';
import type { ByteWriter } from './record/byte-writer.ts';
import { Pieces } from './record/pieces.ts';
import { type ProgressRecord, ProgressWriter } from './record/progress-record.ts';
import { seal } from './record/sealed.ts';
import { StepWriter, type StoredStep } from './record/step-record.ts';
import { SettledReader } from './settled-reader.ts';
import type { Change } from './store/ledger-store.ts';
import { StoredSources } from './stored-sources.ts';

/** The shards that a node did. Nodes of a job are numbered from 1. */
export interface NodeShards {
  name: string;
  device: string;
  shards: number;
  number: number;
}

/** A job that has not ended: all that is known of it, and what of that is not in the journal yet. */
export class OpenJob implements Journaled {
  readonly facts: JobFacts;
  /** Version of the results that are done of it. */
  readonly resultsVersion: number;
  readonly spec: JobSpec;
  /** One a pipeline. A source is open, done or quarantined in all at once. */
  readonly parts: readonly [JobSums, ...JobSums[]];
  readonly captures: JobCaptures;
  readonly settled: SettledReader;
  /** Shards that were planned and are not done, by number. */
  readonly shards = new Map<number, OpenShard>();
  /** Counts inputs from which bytes were removed. */
  mended = new MendedInputCounts();
  readonly times: JobTimes = { leasedMs: 0, listedMs: 0, computedMs: 0, stageSeconds: {}, busySeconds: {} };
  /** By name and device, in the order in which they came. */
  readonly nodes = new Map<string, NodeShards>();
  plan = new Pieces(beginPlan);
  progress = new Pieces(beginProgress);
  /** Open sources to which something was added. */
  readonly #touched = new Set<number>();
  /** Whether the store has heard of the job. */
  #isKept = false;
  #hasTotals = false;
  #hasEnded = false;
  #syncing = Promise.resolve();

  /** `openSpool` gives the file of histograms, which is in a folder that is there while the job runs. */
  constructor(spec: JobSpec, facts: JobFacts, openSpool: OpenSpool, version = resultsVersion) {
    this.spec = spec;
    this.facts = facts;
    this.resultsVersion = version;
    const [first, ...others] = jobParts(spec);
    this.parts = [new JobSums(spec, first, openSpool), ...others.map((part) => new JobSums(spec, part, openSpool))];
    this.captures = new JobCaptures(spec, this.merge);
    this.settled = new SettledReader(this.parts, this.captures);
  }

  /** That of the first pipeline, which says of every source what all say, but for its results. */
  get merge(): Merge {
    return this.parts[0].merge;
  }

  get record(): JobRecord {
    const { facts, spec, merge } = this;
    const reasons = merge.quarantined > 0 ? { reasons: merge.reasons() } : {};
    const told = this.mended.list((index) => merge.whereabouts(index));
    const mended = told.length > 0 ? { mended: told } : {};
    const nodesUsed = [...this.nodes.values()].filter(({ shards }) => shards > 0).length;
    const times = nodesUsed > 0 ? { times: structuredClone(this.times) } : {};
    return { ...facts, spec, counts: { ...facts.counts }, ...reasons, ...mended, nodesUsed, ...times };
  }

  addPlan(steps: readonly PlanStep[], last: boolean): void {
    for (const planned of steps) {
      const step = this.#stored(planned);
      this.plan.writer.write(step);
      this.takeStep(step);
      if (planned.kind === 'sources' && !planned.sources.isPlain) this.#setAside(planned);
    }
    this.#takeCounts();
    if (last) this.facts.planned = true;
  }

  /** The same step with its sources where they stay. */
  #stored(step: PlanStep): StoredStep {
    const [{ spool }] = this.parts;
    if (step.kind === 'sources') {
      const { block } = step.sources;
      const place = { offset: spool.end, length: block.length };
      spool.appendBlock(block);
      return { kind: 'sources', sources: new StoredSources(step.sources, place, spool) };
    }
    const { work } = step.shard;
    const { sources } = this.merge.plannedPlace(firstOf(work.sources))!;
    return { kind: 'shard', shard: { ...step.shard, work: { ...work, sources } } };
  }

  /** What a step means, without a word to the journal. */
  takeStep(step: StoredStep): void {
    if (step.kind === 'sources') for (const { merge } of this.parts) merge.plan(step.sources);
    else {
      this.shards.set(step.shard.shard, { shard: step.shard, attempts: 0 });
      this.facts.counts.shards = Math.max(this.facts.counts.shards, step.shard.shard + 1);
    }
  }

  /** A node of the job, the first time that it is met. */
  addNode({ name, device }: { name: string; device: string }): NodeShards {
    const node = { name, device, shards: 0, number: this.nodes.size + 1 };
    this.nodes.set(nodeKey(node), node);
    return node;
  }

  /** What was restored is in the store: that many pieces. */
  continueAfter(pieces: { planPieces: number; progressPieces: number }): void {
    this.#isKept = true;
    this.plan = new Pieces(beginPlan, pieces.planPieces);
    this.progress = new Pieces(beginProgress, pieces.progressPieces);
  }

  setNotes(notes: readonly string[]): void {
    this.facts.notes = notes;
  }

  /** The first time counts. */
  noteTime(moment: 'leasedMs' | 'listedMs' | 'computedMs', nowMs: number): void {
    this.times[moment] ||= nowMs;
  }

  addAttempt(shard: number, attempt: number): void {
    const open = this.shards.get(shard);
    if (!open || attempt <= open.attempts) return;
    this.facts.counts.attempts += attempt - open.attempts;
    open.attempts = attempt;
    this.#note({ kind: 'attempt', shard, attempt });
  }

  /**
   * What is to be summarised of an answer of frames; undefined where the shard was done before. Throws InvalidResultError where it
   * is not of the sources of the shard.
   */
  frameOrder({ shard, found, results, errors }: ShardCommit): FrameOrder | undefined {
    const open = this.#shard(shard);
    if (!open || !found) return undefined;
    if (results.length > 0) throw new InvalidResultError('There are results beside those of frames');
    const { runs } = framesWithout(open.shard.work, found.frames, errors);
    const shapes = this.parts.map(({ shape }) => shape);
    return { shapes, runs, keepsTimes: !this.captures.goesByMtime, table: found.table, counts: found.counts };
  }

  /**
   * False where the shard was done before. `frames` are what `frameOrder` gave, and their summary; without them the answer has results.
   * Throws InvalidResultError, and changes nothing.
   */
  commit(commit: ShardCommit, frames?: { runs: Float64Array; summary: FrameSummary }): boolean {
    const open = this.#shard(commit.shard);
    if (!open) return false;
    const { shard, attempt: attempts, node, errors, mended = [], stageSeconds, busySeconds = {} } = commit;
    const { work } = open.shard;
    checkMended(work, mended, errors);
    if (frames) {
      this.#shardDone(shard, this.#nodeNumber(node));
      this.#addFrames(frames, commit.found!.pixels);
    } else this.#addResults(work, commit);
    if (work.kind !== 'tile') for (const kind of mended) this.mended.add(kind);
    for (const { source, stage, error } of errors) this.#quarantine(source, { stage, error, attempts, shard });
    addSeconds(this.times.stageSeconds, stageSeconds);
    addSeconds(this.times.busySeconds, busySeconds);
    this.#takeCounts();
    return true;
  }

  #addFrames({ runs, summary }: { runs: Float64Array; summary: FrameSummary }, pixels: number): void {
    if (runs.length === 0) return;
    for (const [part, sums] of this.parts.entries()) {
      const isTimed = summary.isTimed && part === 0;
      this.#note({ kind: 'frames', part, frames: sums.addFrames(runs, { isTimed, pixels }, summary.parts[part]!) });
    }
  }

  #addResults(work: ShardWork, commit: ShardCommit): void {
    const shapes = this.parts.map(({ shape }) => shape);
    const byPart = checkAnswers(work, commit, shapes);
    // What can fail for the disk does so before anything changes.
    const counting = byPart[0]!.filter(({ source }) => this.merge.isOpen(source));
    for (const { source } of counting) this.merge.state(source);
    this.#shardDone(commit.shard, this.#nodeNumber(commit.node));
    if (work.kind === 'tile' && counting.length > 0) for (const kind of commit.mended ?? []) this.mended.addTile(kind);
    for (const [i, { merge }] of this.parts.entries()) merge.add(byPart[i]!);
    for (const { source, captured } of counting) {
      this.#capture(source, captured);
      this.#noteSource(source);
    }
  }

  quarantineShard(shard: number, error: string, attempts: number): void {
    const open = this.#shard(shard);
    if (!open) return;
    const { work } = open.shard;
    this.#shardDone(shard, 0);
    for (const index of indexesOf(work)) {
      this.#quarantine(index, { stage: 'compute', error, attempts, shard });
    }
    this.#takeCounts();
  }

  skipShard(shard: number): void {
    if (!this.#shard(shard)) return;
    this.#shardDone(shard, 0);
    this.#takeCounts();
  }

  results(): UnplannedResults {
    const { jobId, planned, counts } = this.facts;
    if (!planned || this.shards.size > 0) {
      throw new Error(`Job ${jobId} has ${counts.shardsDone} of ${counts.shards} shards done and is not ready`);
    }
    const nodes = [...this.nodes.keys()].sort().map((key) => {
      const { name, device, shards } = this.nodes.get(key)!;
      return { name, device, shards };
    });
    const { record } = this;
    const common = {
      stageSeconds: { ...this.times.stageSeconds },
      nodes: nodes.filter(({ shards }) => shards > 0),
    };
    const parts = this.parts.map((part) => {
      const found = part.results((index) => this.captures.of(index));
      return { name: part.name, results: { job: { ...record, spec: part.spec }, ...common, ...found } };
    });
    const [{ name, results }] = parts as [(typeof parts)[number]];
    if (name === '') return results;
    const digest = digestOfAll(parts.map((part) => ({ name: part.name, digest: part.results.digest })));
    return { ...results, job: record, digest, parts };
  }

  changes(): Change[] {
    if (this.#hasEnded) return [];
    const { jobId } = this.facts;
    const changes: Change[] = this.#isKept ? [] : [specEntry(this.record)];
    this.#isKept = true;
    for (const kind of ['plan', 'progress'] as const) {
      const piece = this[kind].take();
      if (piece) changes.push(seal({ jobId, kind, key: piece.key }, piece.content));
    }
    for (const [i, part] of this.parts.entries()) {
      const { merge } = part;
      for (const source of this.#touched) changes.push(...openChanges(jobId, i, part, source));
      if (this.#hasTotals) changes.push(seal({ jobId, kind: 'totals', key: i }, encodeTotals(merge)));
    }
    this.#touched.clear();
    this.#hasTotals = false;
    changes.push(seal({ jobId, kind: 'job', key: 0 }, encodeJob(this)));
    return changes;
  }

  async sync(): Promise<void> {
    if (this.#hasEnded) return;
    this.#syncing = this.#syncSpools();
    await this.#syncing;
  }

  async #syncSpools(): Promise<void> {
    for (const { spool } of this.parts) await spool.sync();
  }

  /** The journal is told nothing more of it. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    // It may be opening the file just now.
    await this.#syncing.catch(() => {});
    for (const { spool } of this.parts) await spool.close();
  }

  /** Takes the earlier results of sources that are kept, and why others cannot be processed. */
  #setAside({ sources, kept = [] }: Extract<PlanStep, { kind: 'sources' }>): void {
    const results = kept.values();
    for (const source of readSources(sources)) {
      if (source.error) this.#quarantine(source.index, { ...source.error, attempts: 0, shard: -1 });
      else if (source.kept !== undefined) this.#keep(source.index, results.next().value!);
    }
  }

  #keep(index: number, { size, parts, captured }: KeptResult): void {
    const rect = { x: 0, y: 0, ...size };
    for (const [i, { merge }] of this.parts.entries()) merge.add([{ source: index, size, rect, ...parts[i]! }]);
    this.facts.counts.kept = (this.facts.counts.kept ?? 0) + 1;
    this.#hasTotals = true;
    this.#capture(index, captured);
    this.#noteSource(index);
  }

  #capture(source: number, time: CaptureTime | undefined): void {
    if (time && this.captures.take(source, time)) this.#note({ kind: 'captured', source, time });
  }

  #shard(shard: number): OpenShard | undefined {
    if (!(shard >= 0 && shard < this.facts.counts.shards)) {
      throw new Error(`Job ${this.facts.jobId} has no shard ${shard}`);
    }
    return this.shards.get(shard);
  }

  #shardDone(shard: number, node: number): void {
    this.shards.delete(shard);
    this.facts.counts.shardsDone++;
    this.#hasTotals = true;
    this.#note({ kind: 'shard', shard, node });
  }

  /** Counts a shard for a node. */
  #nodeNumber({ name, device }: { name: string; device: string }): number {
    let node = this.nodes.get(nodeKey({ name, device }));
    if (!node) {
      node = this.addNode({ name, device });
      this.#note({ kind: 'node', name, device });
    }
    node.shards++;
    return node.number;
  }

  #quarantine(index: number, reason: Extract<ProgressRecord, { kind: 'quarantined' }>['reason']): void {
    for (const { merge } of this.parts) merge.quarantine(index, reason);
    const source = this.merge.state(index);
    // A source has one reason, though several may be told.
    if (source.state === 'quarantined' && source.reason === reason) this.#noteSource(index);
  }

  /** What became of a source to which something was added. */
  #noteSource(index: number): void {
    this.#touched.add(index);
    const { state } = this.merge.state(index);
    if (state !== 'open') this.mended.settle(index, state === 'done');
    for (const [part, { merge, spool, hasHistograms }] of this.parts.entries()) {
      const source = merge.state(index);
      if (source.state === 'done') {
        const { size, counted, digest } = source;
        const place = hasHistograms ? spool.place(index) : undefined;
        this.#note({ kind: 'done', part, source: index, size, counted, digest, place });
      } else if (source.state === 'quarantined' && part === 0) {
        this.#note({ kind: 'quarantined', source: index, reason: source.reason });
      }
    }
  }

  #note(record: ProgressRecord): void {
    this.progress.writer.write(record);
  }

  #takeCounts(): void {
    const { merge } = this;
    Object.assign(this.facts.counts, {
      sources: merge.sources,
      frames: merge.done,
      pixels: merge.pixels,
      quarantined: merge.quarantined,
    });
  }
}

function addSeconds(sums: Record<string, number>, more: Record<string, number>): void {
  for (const [name, seconds] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + seconds;
}

/** The results of a job, whose plan is read apart. */
type UnplannedResults = Omit<JobResults, 'plan' | 'parts'> & {
  parts?: { name: string; results: Omit<JobResults, 'plan' | 'parts'> }[];
};

const beginPlan = (bytes: ByteWriter): StepWriter => new StepWriter(bytes);
const beginProgress = (bytes: ByteWriter): ProgressWriter => new ProgressWriter(bytes);

const nodeKey = ({ name, device }: { name: string; device: string }): string => `${name}\n${device}`;

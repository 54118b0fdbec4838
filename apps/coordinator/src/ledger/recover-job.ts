import { binsOfSource } from '@halogrid/results/histogram-shape';
import type { PlanStep } from '../job/shard.ts';
import { MendedInputCounts } from '../log/mended-inputs.ts';
import { blockBins } from '../log/open-bins.ts';
import { DamagedLedgerError } from '../registry/ledger-errors.ts';
import {
  blockOfKey,
  decodeBlock,
  decodeJob,
  decodeOpenSource,
  decodeSpec,
  type JobState,
  restoreTotals,
} from './job-record.ts';
import type { JobSums, OpenSpool } from './job-sums.ts';
import type { JobFacts, JobRecord } from './ledger.ts';
import { OpenJob } from './open-job.ts';
import { blockKind, openKind } from './open-source-entries.ts';
import { ByteReader } from './record/byte-reader.ts';
import { type ProgressRecord, readProgress } from './record/progress-record.ts';
import { unseal } from './record/sealed.ts';
import { readSteps } from './record/step-record.ts';
import type { Entry, LedgerStore } from './store/ledger-store.ts';

/** A job as the store has it. */
export type StoredJob = { hasEnded: true; record: JobRecord } | { hasEnded: false; job: OpenJob };

/**
 * The jobs of a store, in order of submission, or the one that is named. Those that have not ended are as they were after their last group, but for
 * their file of histograms, which is left as it is. Rejects with DamagedLedgerError.
 */
export async function* readJobs(store: LedgerStore, openSpool: OpenSpool, jobId?: string): AsyncGenerator<StoredJob> {
  try {
    yield* decodeJobs(store, openSpool, jobId);
  } catch (error) {
    throw asDamage(error);
  }
}

async function* decodeJobs(
  store: LedgerStore,
  openSpool: OpenSpool,
  jobId: string | undefined,
): AsyncGenerator<StoredJob> {
  const states: JobState[] = [];
  const of = jobId === undefined ? {} : { jobId };
  for await (const entry of store.entries({ ...of, kind: 'job' })) states.push(decodeJob(unseal(entry)));
  await checkNoneIsMissing(store, states, of);
  states.sort((a, b) => a.facts.submittedMs - b.facts.submittedMs);
  for (const { facts, open } of states) {
    const spec = decodeSpec(unseal(await theOnly(store, facts, 'spec')));
    if (!open) yield { hasEnded: true, record: { ...facts, spec } };
    else {
      const job = new OpenJob(spec, facts, openSpool, open.resultsVersion);
      await restore(store, job, open);
      yield { hasEnded: false, job };
    }
  }
}

/**
 * The plan of a job as far as it is in the store. Rejects with DamagedLedgerError, or with LostSourcesError where the
 * job's file is damaged.
 */
export async function* readPlan(store: LedgerStore, { facts, merge, plan, parts }: OpenJob): AsyncGenerator<PlanStep> {
  try {
    for await (const bytes of readPieces(store, facts, 'plan', plan.count)) {
      for (const step of readSteps(bytes, (source) => merge.plannedPlace(source)?.sources, parts[0].spool)) {
        if (step.kind === 'sources') step.sources.check();
        yield step;
      }
    }
  } catch (error) {
    throw asDamage(error);
  }
}

/** Every job has its specification beside it, and so one whose own entry is gone is noticed. */
async function checkNoneIsMissing(
  store: LedgerStore,
  states: readonly JobState[],
  of: { jobId?: string },
): Promise<void> {
  const known = new Set(states.map(({ facts }) => facts.jobId));
  for await (const { jobId } of store.entries({ ...of, kind: 'spec' })) {
    if (!known.has(jobId)) throw missing({ jobId }, 'job');
  }
}

/** Entries that are whole and make no sense are not what was written, either. */
function asDamage(error: unknown): unknown {
  return error instanceof RangeError ? new DamagedLedgerError(error.message) : error;
}

async function restore(store: LedgerStore, job: OpenJob, open: NonNullable<JobState['open']>): Promise<void> {
  const { facts, merge: first } = job;
  const { jobId, counts } = facts;
  const known = { ...counts };
  for await (const bytes of readPieces(store, facts, 'plan', open.planPieces)) {
    const { spool } = job.parts[0];
    for (const step of readSteps(bytes, (source) => first.plannedPlace(source)?.sources, spool)) {
      if (step.kind === 'sources') {
        const { offset, length } = step.sources.place;
        spool.restoreBlock(offset + length);
      }
      job.takeStep(step);
    }
  }
  // The plan has counted shards on its way.
  Object.assign(counts, known);
  const sums = [open, ...(open.others ?? [])];
  if (sums.length !== job.parts.length) throw missing(facts, 'job');
  for (const [i, { merge }] of job.parts.entries()) {
    merge.done = counts.frames;
    merge.pixels = counts.pixels;
    merge.quarantined = counts.quarantined;
    merge.counted = BigInt(sums[i]!.counted);
  }
  job.mended = new MendedInputCounts(open.mended);
  Object.assign(job.times, open.times, { stageSeconds: open.stageSeconds });

  const takeRecord = recordTaker(job);
  for await (const bytes of readPieces(store, facts, 'progress', open.progressPieces)) {
    for (const record of readProgress(bytes)) takeRecord(record);
  }
  for (const [i, part] of job.parts.entries()) {
    await restoreOpenSources(store, jobId, i, part);
    if (part.keptSources.size !== sums[i]!.openSources) throw missing(facts, openKind(i));
  }
  if (counts.shardsDone > 0 || counts.frames > 0) await restoreAllTotals(store, job);
  job.continueAfter(open);
}

async function restoreOpenSources(store: LedgerStore, jobId: string, part: number, sums: JobSums): Promise<void> {
  const { merge, shape, keptSources, keptBlocks } = sums;
  let blocksLeft = 0;
  for await (const entry of store.entries({ jobId, kind: openKind(part) })) {
    const { source, blocks } = decodeOpenSource(unseal(entry), binsOfSource(shape));
    merge.restore(entry.key, source);
    keptSources.add(entry.key);
    if (blocks > 0) keptBlocks.set(entry.key, new Set());
    blocksLeft += blocks;
  }
  for await (const entry of store.entries({ jobId, kind: blockKind(part) })) {
    const { source, block } = blockOfKey(entry.key);
    const state = merge.state(source);
    if (state.state !== 'open' || !keptBlocks.has(source)) break;
    const bins = state.bins!;
    bins.restore(block * blockBins, decodeBlock(unseal(entry), bins.block(block).length));
    keptBlocks.get(source)!.add(block);
    blocksLeft--;
  }
  if (blocksLeft !== 0) throw missing({ jobId }, blockKind(part));
}

/** The entries of kind 'totals' have a pipeline each, in order. */
async function restoreAllTotals(store: LedgerStore, { facts, parts }: OpenJob): Promise<void> {
  let restored = 0;
  for await (const entry of store.entries({ jobId: facts.jobId, kind: 'totals' })) {
    const part = entry.key === restored ? parts[restored++] : undefined;
    if (!part) break;
    restoreTotals(part.merge, unseal(entry));
  }
  if (restored !== parts.length) throw missing(facts, 'totals');
}

function recordTaker(job: OpenJob): (record: ProgressRecord) => void {
  const { parts, shards, nodes } = job;
  const byNumber: (typeof nodes extends Map<string, infer Node> ? Node : never)[] = [];
  return (record) => {
    switch (record.kind) {
      case 'node':
        byNumber.push(job.addNode(record));
        break;
      case 'shard':
        shards.delete(record.shard);
        if (record.node > 0) byNumber[record.node - 1]!.shards++;
        break;
      case 'attempt': {
        const open = shards.get(record.shard);
        if (open) open.attempts = record.attempt;
        break;
      }
      case 'done': {
        const { part: number = 0, source, size, counted, digest, place } = record;
        const part = parts[number];
        if (!part) throw new RangeError(`There is no pipeline ${number}`);
        part.merge.restore(source, { state: 'done', size, counted, digest });
        if (place) part.spool.restore(source, place);
        break;
      }
      case 'frames': {
        const part = parts[record.part];
        if (!part) throw new RangeError(`There is no pipeline ${record.part}`);
        part.restoreFrames(record.frames);
        break;
      }
      case 'captured':
        job.captures.times.set(record.source, record.time);
        break;
      case 'quarantined':
        for (const { merge } of parts) merge.restore(record.source, { state: 'quarantined', reason: record.reason });
        break;
    }
  };
}

/** Pieces 0 to `count` - 1 of that kind. */
async function* readPieces(
  store: LedgerStore,
  facts: JobFacts,
  kind: string,
  count: number,
): AsyncGenerator<ByteReader> {
  let next = 0;
  for await (const entry of store.entries({ jobId: facts.jobId, kind })) {
    if (entry.key !== next++) break;
    yield new ByteReader(unseal(entry));
  }
  if (next !== count) throw missing(facts, kind);
}

async function theOnly(store: LedgerStore, facts: JobFacts, kind: string): Promise<Entry> {
  for await (const entry of store.entries({ jobId: facts.jobId, kind })) return entry;
  throw missing(facts, kind);
}

const missing = ({ jobId }: Pick<JobFacts, 'jobId'>, kind: string): DamagedLedgerError =>
  new DamagedLedgerError(`entries of kind '${kind}' of job ${jobId} are missing`);

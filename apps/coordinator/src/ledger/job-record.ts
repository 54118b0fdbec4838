import type { JobSpec, JobTimes } from '@halogrid/proto';
import type { JobFacts, JobRecord } from './ledger.ts';
import type { Merge, OpenSource } from './merge.ts';
import { ByteReader } from './record/byte-reader.ts';
import { ByteWriter } from './record/byte-writer.ts';
import { seal } from './record/sealed.ts';
import { DamagedLedgerError, ledgerFormat as format } from './store/ledger-errors.ts';
import type { Entry } from './store/ledger-store.ts';

/** What the journal says of a job beside its specification, its plan, its progress and its totals. */
export interface JobState {
  facts: JobFacts;
  /** Undefined once it has ended. */
  open?: {
    /** Version of the results that are done of it. */
    resultsVersion: number;
    stageSeconds: Record<string, number>;
    /** The rest of its times; absent in what older versions wrote. */
    times?: Omit<JobTimes, 'stageSeconds'>;
    /** How many there are: one that is missing is noticed. */
    planPieces: number;
    progressPieces: number;
    openSources: number;
    /** Pixels counted in the sources that are done: a whole number of any size. */
    counted: string;
    /** The same of each pipeline after the first; absent where there is one. */
    others?: { openSources: number; counted: string }[];
  };
}

const toBytes = (value: object): Uint8Array => Buffer.from(JSON.stringify(value));

/** What is written of a job that has not ended. */
interface WrittenJob {
  facts: JobFacts;
  resultsVersion: number;
  times: JobTimes;
  plan: { count: number };
  progress: { count: number };
  /** One a pipeline. */
  parts: readonly { keptSources: { size: number }; merge: Pick<Merge, 'counted'> }[];
}

export function encodeJob(job: WrittenJob): Uint8Array {
  const { facts, resultsVersion, plan, progress } = job;
  const [first, ...others] = job.parts.map(({ keptSources, merge }) => {
    return { openSources: keptSources.size, counted: String(merge.counted) };
  });
  const { stageSeconds, ...times } = job.times;
  const open: JobState['open'] = {
    resultsVersion,
    stageSeconds,
    times,
    planPieces: plan.count,
    progressPieces: progress.count,
    ...first!,
    ...(others.length > 0 && { others }),
  };
  return toBytes({ format, facts, open });
}

/** Throws DamagedLedgerError for another version's. */
export function decodeJob(content: Uint8Array): JobState {
  const job = JSON.parse(Buffer.from(content).toString()) as JobState & { format: number };
  if (job.format === format) return job;
  throw new DamagedLedgerError(
    `job ${job.facts?.jobId} was written by another version (format ${job.format} instead of ${format})`,
  );
}

export const decodeSpec = (content: Uint8Array): JobSpec => JSON.parse(Buffer.from(content).toString());

export function specEntry({ jobId, spec }: Pick<JobRecord, 'jobId' | 'spec'>): Entry {
  return seal({ jobId, kind: 'spec', key: 0 }, toBytes(spec));
}

/** All that is kept of a job that has ended. */
export function endedEntries(record: JobRecord): Entry[] {
  const { spec: _, ...facts } = record;
  return [seal({ jobId: record.jobId, kind: 'job', key: 0 }, toBytes({ format, facts })), specEntry(record)];
}

/** The sums of the merge, 8 bytes a bin in the byte order of every machine that Node runs on. */
export function encodeTotals({ bins }: Merge): Uint8Array {
  return new Uint8Array(bins.buffer, bins.byteOffset, bins.byteLength);
}

/** Throws RangeError where they are not those of such a job. */
export function restoreTotals({ bins }: Merge, content: Uint8Array): void {
  if (content.length !== bins.byteLength) throw new RangeError('The totals have another number of bins than the job');
  new Uint8Array(bins.buffer, bins.byteOffset, bins.byteLength).set(content);
}

/** What came of a source some of whose tiles are still to come. */
export function encodeOpenSource({ tilesLeft, counted, pixels, bins }: OpenSource): Uint8Array {
  const bytes = new ByteWriter();
  for (const value of [tilesLeft, counted, pixels]) bytes.uint(value);
  for (const count of bins ?? []) bytes.uint(count);
  return bytes.bytes;
}

/** Throws RangeError where it is not of a source with that many bins. */
export function decodeOpenSource(content: Uint8Array, binsOfSource: number): OpenSource {
  const bytes = new ByteReader(content);
  const [tilesLeft, counted, pixels] = [bytes.uint(), bytes.uint(), bytes.uint()];
  const bins = new Float64Array(binsOfSource);
  for (let i = 0; i < binsOfSource; i++) bins[i] = bytes.uint();
  if (!bytes.isAtEnd) throw new RangeError('There are more bins than the job has');
  return { state: 'open', tilesLeft, counted, pixels, bins };
}

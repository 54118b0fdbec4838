import type { JobSpec, JobTimes } from '@halogrid/proto';
import { readVarints, varintsLength, writeVarints } from '@halogrid/proto/varints';
import type { StoredMended } from '../log/mended-inputs.ts';
import { blockBins, OpenBins } from '../log/open-bins.ts';
import { DamagedLedgerError, ledgerFormat as format } from '../registry/ledger-errors.ts';
import type { JobFacts, JobRecord } from './ledger.ts';
import type { Merge, OpenSource } from './merge.ts';
import { ByteReader } from './record/byte-reader.ts';
import { ByteWriter } from './record/byte-writer.ts';
import { seal, unseal } from './record/sealed.ts';
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
    /** Absent if no bytes were removed from any file. */
    mended?: StoredMended;
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
  mended: { stored: StoredMended | undefined };
  /** One a pipeline. */
  parts: readonly { keptSources: { size: number }; merge: Pick<Merge, 'counted'> }[];
}

export function encodeJob(job: WrittenJob): Uint8Array {
  const { facts, resultsVersion, plan, progress } = job;
  const mended = job.mended.stored;
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
    ...(mended && { mended }),
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

/** The entry of a job with changed facts; its results stay. */
export function withFacts({ jobId, kind, key, value }: Entry, change: (facts: JobFacts) => JobFacts): Entry {
  const { facts, open } = decodeJob(unseal({ jobId, kind, key, value }));
  return seal({ jobId, kind, key }, toBytes({ format, facts: change(facts), open }));
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

/**
 * What came of a source some of whose tiles are still to come: with its sums, or, where they are more than a block, with the number of
 * blocks that have entries of their own.
 */
export function encodeOpenSource({ tilesLeft, counted, pixels, bins }: OpenSource, blocks: number): Uint8Array {
  const bytes = new ByteWriter();
  for (const value of [tilesLeft, counted, pixels]) bytes.uint(value);
  const sums = bins?.sums ?? [];
  if (sums.length > blockBins) bytes.uint(blocks);
  else for (const count of sums) bytes.uint(count);
  return bytes.bytes;
}

/** Its sums are 0 where `blocks` entries have them. Throws RangeError where it is not of a source with that many bins. */
export function decodeOpenSource(content: Uint8Array, binsOfSource: number): { source: OpenSource; blocks: number } {
  const bytes = new ByteReader(content);
  const [tilesLeft, counted, pixels] = [bytes.uint(), bytes.uint(), bytes.uint()];
  const bins = new OpenBins(binsOfSource);
  bins.makeRoomFor(pixels);
  const source: OpenSource = { state: 'open', tilesLeft, counted, pixels, bins };
  const first = binsOfSource > 0 ? bytes.uint() : 0;
  if (bytes.isAtEnd && binsOfSource > blockBins) return { source, blocks: first };
  const sums = new Float64Array(binsOfSource);
  if (binsOfSource > 0) sums[0] = first;
  for (let i = 1; i < binsOfSource; i++) sums[i] = bytes.uint();
  if (!bytes.isAtEnd) throw new RangeError('There are more bins than the job has');
  bins.restore(0, sums);
  // Older versions had no blocks: what is written next of it is all of them.
  if (binsOfSource > blockBins) bins.touchAll();
  return { source, blocks: 0 };
}

/** Blocks of a source at most. */
const mostBlocks = 2 ** 16;

/** The key of the entry of a block. */
export const blockKey = (source: number, block: number): number => source * mostBlocks + block;

/** What `blockKey` made it of. */
export function blockOfKey(key: number): { source: number; block: number } {
  return { source: Math.floor(key / mostBlocks), block: key % mostBlocks };
}

export function encodeBlock(sums: ArrayLike<number>): Uint8Array {
  const bytes = new Uint8Array(varintsLength(sums));
  writeVarints(sums, bytes, 0);
  return bytes;
}

/** Throws RangeError where it is not of that many sums. */
export function decodeBlock(content: Uint8Array, count: number): Float64Array {
  const sums = new Float64Array(count);
  if (readVarints(content, 0, sums) !== content.length) throw new RangeError('A block has another number of bins');
  return sums;
}

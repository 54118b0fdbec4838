import { crc32 } from 'node:zlib';
import { DamagedLedgerError } from './ledger-errors.ts';
import type { LogMark, RegisteredJob } from './registry.ts';

/** A job as databases store it: texts, each with a checksum, because not every database checks its data. */
export interface JobRow {
  jobId: string;
  spec: string;
  specSum: number;
  status: string;
  /** JSON: the epoch and the counted bytes of each log. */
  marks: string;
  /** Checksum over the status, the marks, and whether the job has ended. */
  statusSum: number;
  leader: number | null;
  epoch: number;
}

export const packMarks = (marks: readonly LogMark[]): string =>
  JSON.stringify(marks.map(({ epoch, bytes }) => [epoch, bytes]));

export function unpackMarks(marks: string): LogMark[] {
  const pairs = JSON.parse(marks) as [number, number][];
  return pairs.map(([epoch, bytes]) => ({ epoch, bytes }));
}

export const specSum = (jobId: string, spec: string): number => crc32(`${jobId}\n${spec}`);

export const statusSum = (jobId: string, status: string, marks: string, hasEnded: boolean): number =>
  crc32(`${jobId}\n${hasEnded ? 'ended' : 'led'}\n${marks}\n${status}`);

/** The job in a row. Throws DamagedLedgerError if the row has changed since it was written. */
export function readRow(row: JobRow): RegisteredJob {
  const { jobId, spec, status, marks, leader, epoch } = row;
  if (specSum(jobId, spec) !== row.specSum) throw changed(jobId, 'the specification');
  if (statusSum(jobId, status, marks, leader === null) !== row.statusSum) throw changed(jobId, 'the status');
  return { jobId, spec, status, marks: unpackMarks(marks), leader: leader ?? undefined, epoch };
}

const changed = (jobId: string, what: string): DamagedLedgerError =>
  new DamagedLedgerError(`${what} of job ${jobId} has changed since it was written`);

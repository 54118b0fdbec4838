import { resolve } from 'node:path';
import { placeAt } from '@halogrid/results/place';
import { type FinishedJob, type Indexed, IndexWriter, readFinishedJob } from '@halogrid/search';
import { writing } from '@halogrid/service/system-errors';
import { plural } from '../progress/quantities.ts';

export interface IndexOptions {
  /** Folder of the index. */
  to: string;
  /** The pipeline to index, if jobs have several. */
  pipeline?: string;
  /** Merges the segments that earlier calls have written. */
  compact?: boolean;
  json?: boolean;
}

/** Adds the jobs with these outputs, folders or s3: URIs, to the index, and prints what was done. */
export async function indexFinishedJobs(
  outs: readonly string[],
  { to, pipeline, compact, json }: IndexOptions,
): Promise<void> {
  // All jobs are checked before anything is written.
  const jobs = await Promise.all(outs.map((out) => readFinishedJob(placeAt(out).at, pipeline)));
  const writer = await writing(to, 'another folder with --to', () => IndexWriter.open(resolve(to)));
  const done: (Indexed & { out: string })[] = [];
  try {
    for (const job of jobs) writer.check(job);
    for (const [i, job] of jobs.entries()) {
      const indexed = await writer.add(job, showProgress(outs[i]!));
      done.push({ out: outs[i]!, ...indexed });
      if (!json) process.stderr.write(`${sentenceOf(outs[i]!, job, indexed)}\n`);
    }
    if (compact) await writer.compact();
    const { frames, segments } = writer;
    if (json) process.stdout.write(`${JSON.stringify({ jobs: done, frames, segments: segments.length }, null, 2)}\n`);
    else
      process.stdout.write(
        `The index ${to} has ${plural(frames, 'frame')} in ${plural(segments.length, 'segment')}.\n`,
      );
  } finally {
    writer.close();
  }
}

/** Shows progress in a line that is overwritten, on a terminal. */
function showProgress(out: string): ((frames: number) => void) | undefined {
  const { stderr } = process;
  return stderr.isTTY ? (frames) => stderr.write(`${out}: ${plural(frames, 'frame')} …\r`) : undefined;
}

function sentenceOf(out: string, { id }: FinishedJob, { outcome, frames }: Indexed): string {
  if (outcome === 'skipped') return `${out}: job ${id} is already in the index, with ${plural(frames, 'frame')}.`;
  const how = outcome === 'replaced' ? 'indexed in place of the earlier job of that folder' : 'indexed';
  return `${out}: ${plural(frames, 'frame')} of job ${id} ${how}.`;
}

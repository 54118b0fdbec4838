import type { WriteStream } from 'node:tty';
import type { Job } from '@halogrid/client';
import type { JobStatus } from '@halogrid/proto';
import { progressBar, progressLine, whyWaiting } from './describe-progress.ts';

/**
 * Shows a job until it ends and resolves with its last status. Rejects with one sentence if its coordinator is lost.
 */
export async function followJob(job: Job, view: ProgressView): Promise<JobStatus> {
  try {
    for await (const status of job) if (!job.hasEnded) view.show(status);
  } finally {
    view.end();
  }
  return job.status;
}

/** A place that shows progress. */
export interface ProgressView {
  show(job: JobStatus): void;
  /** Prints a line for people between the progress. */
  note(line: string): void;
  /** Removes temporary output, such as the bar. */
  end(): void;
}

/** How often a log gets a line of progress: often enough to see that the job lives, rarely enough to read. */
const lineEveryMs = 5_000;

/** Shows nothing. */
export const quietView: ProgressView = { show() {}, note() {}, end() {} };

/** Shows a bar on a terminal, and plain lines elsewhere. `nowMs` is a clock. */
export function createProgressView(stream: NodeJS.WriteStream, nowMs: () => number): ProgressView {
  return stream.isTTY ? createBar(stream) : createLines(stream, nowMs);
}

/** The width that is assumed for a terminal that does not report its own. */
const usualColumns = 80;

function createBar(stream: WriteStream): ProgressView {
  let waiting = '';
  // Goes to the first column and clears to the end of the line.
  const clear = '\r\x1b[K';
  const note = (line: string): void => void stream.write(`${clear}${line}\n`);
  return {
    show(job) {
      // This sentence may be long, so it does not fit into the line of the bar.
      const why = whyWaiting(job);
      if (why && why !== waiting) note(`Waiting: ${why}`);
      waiting = why;
      // Some terminals wrap at the last column.
      stream.write(clear + progressBar(job, (stream.columns || usualColumns) - 1));
    },
    note,
    end: () => void stream.write(clear),
  };
}

function createLines(stream: NodeJS.WritableStream, nowMs: () => number): ProgressView {
  let next = nowMs() + lineEveryMs;
  let waiting = '';
  return {
    show(job) {
      const now = nowMs();
      const why = whyWaiting(job);
      if (why && why !== waiting) next = now;
      waiting = why;
      if (now < next) return;
      next = now + lineEveryMs;
      stream.write(`${progressLine(job)}\n`);
    },
    note: (line) => void stream.write(`${line}\n`),
    end() {},
  };
}

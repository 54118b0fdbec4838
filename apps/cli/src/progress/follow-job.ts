import type { WriteStream } from 'node:tty';
import type { Job } from '@halogrid/client';
import type { JobStatus } from '@halogrid/proto';
import { progressBar, progressLine } from './describe-progress.ts';

/**
 * Shows a job until it ends and resolves with it as it is then. Rejects with one sentence where it is lost sight of.
 */
export async function followJob(job: Job, view: ProgressView): Promise<JobStatus> {
  try {
    for await (const status of job) if (!job.hasEnded) view.show(status);
  } finally {
    view.end();
  }
  return job.status;
}

/** Where progress is shown. */
export interface ProgressView {
  show(job: JobStatus): void;
  /** Prints a line for people between the progress. */
  note(line: string): void;
  /** Removes what is only for the time being. */
  end(): void;
}

/** A log gets a line of progress this often: often enough to see that it lives, seldom enough to read. */
const lineEveryMs = 5_000;

/** Shows nothing. */
export const quietView: ProgressView = { show() {}, note() {}, end() {} };

/** A bar on a terminal, plain lines elsewhere. `nowMs` is a clock. */
export function createProgressView(stream: NodeJS.WriteStream, nowMs: () => number): ProgressView {
  return stream.isTTY ? createBar(stream) : createLines(stream, nowMs);
}

/** What a terminal is taken for that does not say how wide it is. */
const usualColumns = 80;

function createBar(stream: WriteStream): ProgressView {
  let waiting = '';
  // Back to the first column, and clear to the end of the line.
  const clear = '\r\x1b[K';
  const note = (line: string): void => void stream.write(`${clear}${line}\n`);
  return {
    show(job) {
      // A sentence of any length, which a line that is written over and over has no room for.
      if (job.waiting && job.waiting !== waiting) note(`Waiting: ${job.waiting}`);
      waiting = job.waiting;
      // In the last column some terminals wrap.
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
      if (job.waiting && job.waiting !== waiting) next = now;
      waiting = job.waiting;
      if (now < next) return;
      next = now + lineEveryMs;
      stream.write(`${progressLine(job)}\n`);
    },
    note: (line) => void stream.write(`${line}\n`),
    end() {},
  };
}

import type { WriteStream } from 'node:tty';
import { hasEnded, type JobStatus } from '@halogrid/proto';
import type { CoordinatorClient } from '../client/coordinator-client.ts';
import { progressBar, progressLine, Speedometer } from './describe-progress.ts';

/** Shows a job until it ends and resolves with it as it is then. Rejects with one sentence where it is lost sight of. */
export async function followJob(client: CoordinatorClient, jobId: string, view: ProgressView): Promise<JobStatus> {
  let last: JobStatus | undefined;
  try {
    for await (const job of client.watch(jobId)) {
      last = job;
      if (!hasEnded(job)) view.show(job);
    }
  } finally {
    view.end();
  }
  if (last && hasEnded(last)) return last;
  throw new Error(`The coordinator at ${client.address} stopped reporting on job ${jobId} before its end`);
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

/** A bar on a terminal, plain lines elsewhere. `nowMs` is a clock. */
export function createProgressView(stream: NodeJS.WriteStream, nowMs: () => number): ProgressView {
  return stream.isTTY ? createBar(stream, nowMs) : createLines(stream, nowMs);
}

function createBar(stream: WriteStream, nowMs: () => number): ProgressView {
  const speedometer = new Speedometer();
  // Back to the first column, and clear to the end of the line.
  const clear = '\r\x1b[K';
  return {
    show(job) {
      const { pixels, shardsDone } = job.counts!;
      const speed = speedometer.measure(nowMs(), pixels, shardsDone);
      stream.write(clear + progressBar(job, speed, stream.columns - 1));
    },
    note: (line) => void stream.write(`${clear}${line}\n`),
    end: () => void stream.write(clear),
  };
}

function createLines(stream: NodeJS.WritableStream, nowMs: () => number): ProgressView {
  const speedometer = new Speedometer();
  let next = nowMs() + lineEveryMs;
  return {
    show(job) {
      const { pixels, shardsDone } = job.counts!;
      const now = nowMs();
      const speed = speedometer.measure(now, pixels, shardsDone);
      if (now < next) return;
      next = now + lineEveryMs;
      stream.write(`${progressLine(job, speed)}\n`);
    },
    note: (line) => void stream.write(`${line}\n`),
    end() {},
  };
}

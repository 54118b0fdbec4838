import { fileURLToPath } from 'node:url';
import type { JobStatus } from '@halogrid/proto';
import { stateWord } from '../progress/describe-progress.ts';

/** A job as `--json` prints it, whatever its state. */
export function jobFacts(job: JobStatus) {
  const { sources, pipeline, out } = job.spec!;
  return {
    id: job.jobId,
    state: stateWord(job.state),
    error: job.error || null,
    digest: job.digest || null,
    planned: job.planned,
    counts: job.counts!,
    quarantine: job.reasons,
    waiting: job.waiting || null,
    nodes: job.nodes,
    submitted: new Date(job.submittedMs).toISOString(),
    finished: job.finishedMs ? new Date(job.finishedMs).toISOString() : null,
    pipeline: pipeline!.operations.map((operation) => operation.kernel).join(' '),
    sources,
    out: fileURLToPath(out),
  };
}

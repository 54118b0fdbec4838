import { fileURLToPath } from 'node:url';
import { describeReason, whyNothingMerged } from '@halogrid/console/sentences.js';
import { hasEnded, type JobStatus } from '@halogrid/proto';
import { table } from '@halogrid/service/text-table';
import { stateWord } from '../progress/describe-progress.ts';
import { describePixels } from '../progress/quantities.ts';

/** What a person reads of a job as it is now. */
export function describeJob(status: JobStatus): string {
  const job = jobFacts(status);
  const { counts } = job;
  const soFar = job.planned ? '' : ' found so far';
  const nothingMerged = whyNothingMerged(status);
  const more = job.error ? `: ${job.error}` : nothingMerged ? `, but ${nothingMerged}` : '';
  return table([
    ['job', job.id],
    ['state', job.state + more],
    ...(job.waiting && !hasEnded(status) ? [['waits', job.waiting]] : []),
    ['submitted', job.submitted],
    ...(job.finished ? [['finished', job.finished]] : []),
    ['kernels', job.pipeline],
    ['sources', `${counts.sources}${soFar}, ${counts.frames} merged, ${counts.quarantined} quarantined`],
    ...job.quarantine.map((reason, i) => [i === 0 ? 'quarantined' : '', describeReason(reason)]),
    ['shards', `${counts.shardsDone} of ${counts.shards}${soFar}, ${counts.attempts} attempts`],
    ['pixels', describePixels(counts.pixels)],
    ['nodes', String(job.nodes)],
    ...(job.digest ? [['digest', job.digest]] : []),
    ['results', job.out],
  ]);
}

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

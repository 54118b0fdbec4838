import { fileURLToPath } from 'node:url';
import { type AcceptedJob, jobPipeline } from '@halogrid/jobs/accepted-job';
import { createJobId } from '@halogrid/jobs/job-id';
import { scratchUri } from '@halogrid/jobs/output-paths';
import type { PlannedStep } from '@halogrid/jobs/shard';
import { type LogReader, replayFacts } from '@halogrid/ledger';
import type { JobSpec, JobStatus } from '@halogrid/proto';
import { JobRun, type JobRunListener } from '../dispatch/job-run.ts';
import { endBecause } from '../dispatch/job-work.ts';
import type { LostShard } from '../dispatch/lost-parts.ts';
import { createFolderLedger, type LedgerContext } from '../dispatch/open-ledger.ts';
import { realWork } from '../dispatch/real-work.ts';
import { openLog, takeResults, withLog } from '../output/logged-output.ts';
import { claimOutputFolder, releaseOutputFolder } from '../output/output-folder.ts';
import { toJobStatus } from '../services/job-status.ts';
import { checkPlans } from './check-plans.ts';
import { readShares, type ShareOutput, shareOf } from './read-shares.ts';

/** How many steps of the plan are taken over together. */
const stepsAtOnce = 256;

/** How long it waits for an output without room, or that is away, in milliseconds: nobody sees that it waits. */
const outputGraces = { room: 60_000, folder: 60_000 };

/**
 * Makes one output at the URI `out` of all its parts, which are in folders (paths) and buckets (s3: URIs), as the job
 * would that did all shards: that job's plan is the plan of the parts, and its answers are theirs. The parts stay as
 * they are. Resolves with the status of the job, which is complete or has failed; rejects with UsageError if the parts
 * do not fit together, and with the signal's reason when it aborts.
 */
export async function mergeShares(
  places: readonly string[],
  out: string,
  context: Omit<LedgerContext, 'lost'>,
  signal: AbortSignal,
): Promise<JobStatus> {
  const shares = await readShares(places);
  await checkPlans(shares);
  const { share: _, ...asked } = shares[0].claim.specification;
  const spec: JobSpec = { ...asked, out };
  const { clock, log } = context;
  const jobId = createJobId(clock.wallMs(), Math.random());
  const job: AcceptedJob = { jobId, spec, pipeline: jobPipeline(spec), scratch: scratchUri(out) };
  await claimOutputFolder(out, job);
  const ledger = createFolderLedger({ ...context, lost: (error) => log.error(error.message) });
  try {
    await ledger.createJob({ jobId, spec, submittedMs: clock.wallMs() });
    const stop = (error: unknown): void => run.stop(endBecause(error));
    let isLost = false;
    const listener: JobRunListener = {
      planned() {},
      planEnded: () => void answerAll().then(() => run.shardsDone(), stop),
      queued: () => ({ shards: 0, sources: 0 }),
      isBesideOthers: () => false,
      // The first of many lost shards says why: it takes the logs of all parts to find that.
      lost: (lost) => {
        if (isLost) return;
        isLost = true;
        void whyLost(shares, lost).then((why) => stop(new Error(why)), stop);
      },
      abandoned() {},
      changed() {},
    };
    const answerAll = async (): Promise<void> => {
      for (const share of shares) {
        signal.throwIfAborted();
        await withLog(share, (log) => replayFacts(log.facts(), ledger, jobId));
        run.resultsCame();
      }
    };
    const work = realWork(() => planOf(shares[0]), ledger);
    const scratch = fileURLToPath(job.scratch);
    const takeAll = async (): Promise<void> => {
      for (const { at } of shares) await takeResults(at, scratch, signal);
    };
    const run = new JobRun(job, { ledger, work, clock, log, outputGraces }, listener, takeAll);
    signal.addEventListener('abort', () => run.stop('closing'), { once: true });
    await run.ended;
    signal.throwIfAborted();
    return toJobStatus((await ledger.getJob(jobId))!, { nodes: 0, waiting: '' });
  } finally {
    releaseOutputFolder(out);
    await ledger.close();
  }
}

/** The plan of a share, as of a job that does all shards. */
async function* planOf({ at, claim }: ShareOutput): AsyncGenerator<PlannedStep[]> {
  const { log, close } = await openLog(at, claim);
  try {
    let steps: PlannedStep[] = log.notes.map((text) => ({ kind: 'note', text }));
    for (const step of log.plan()) {
      steps.push(step.kind === 'shard' ? wholeStep(step) : step);
      if (steps.length < stepsAtOnce) continue;
      yield steps;
      steps = [];
    }
    yield steps;
  } finally {
    await close();
  }
}

function wholeStep(step: Extract<PlannedStep, { kind: 'shard' }>): PlannedStep {
  const { elsewhere: _, ...shard } = step.shard;
  return { ...step, shard };
}

/** A sentence about a shard whose results are not what its share said. */
async function whyLost(shares: readonly ShareOutput[], { error, withdrawn }: LostShard): Promise<string> {
  const lost = withdrawn.open.shard.shard;
  for (const share of shares) {
    const hasIt = (log: LogReader): boolean => {
      for (const step of log.plan())
        if (step.kind === 'shard' && step.shard.shard === lost) return !step.shard.elsewhere;
      return false;
    };
    if (!(await withLog(share, hasIt))) continue;
    const { number, of } = shareOf(share);
    return `Part ${number} of ${of} in '${share.at}' is damaged: ${error}; run that part again with --fresh`;
  }
  return error;
}

import { fileURLToPath, pathToFileURL } from 'node:url';
import { type AcceptedJob, jobPipeline } from '@halogrid/jobs/accepted-job';
import { createJobId } from '@halogrid/jobs/job-id';
import { scratchUri } from '@halogrid/jobs/output-paths';
import type { PlannedStep } from '@halogrid/jobs/shard';
import { isLogName, replayFacts } from '@halogrid/ledger';
import type { JobSpec, JobStatus } from '@halogrid/proto';
import { linkTree } from '@halogrid/results/link-tree';
import { JobRun, type JobRunListener } from '../dispatch/job-run.ts';
import { endBecause } from '../dispatch/job-work.ts';
import type { LostShard } from '../dispatch/lost-parts.ts';
import { createFolderLedger, type LedgerContext } from '../dispatch/open-ledger.ts';
import { realWork } from '../dispatch/real-work.ts';
import { readFolderLog } from '../output/logged-folder.ts';
import { claimOutputFolder, releaseOutputFolder } from '../output/output-folder.ts';
import { toJobStatus } from '../services/job-status.ts';
import { checkPlans } from './check-plans.ts';
import { readShares, type ShareFolder, shareOf } from './read-shares.ts';

/** How many steps of the plan are taken over together. */
const stepsAtOnce = 256;

/**
 * Makes one output in the folder `out` (a URI) of the folders of all its parts, as the job would that did all shards:
 * that job's plan is the plan of the parts, and its answers are theirs. The parts stay as they are. Resolves with the
 * status of the job, which is complete or has failed; rejects with UsageError if the parts do not fit together, and
 * with the signal's reason when it aborts.
 */
export async function mergeShares(
  folders: readonly string[],
  out: string,
  context: Omit<LedgerContext, 'lost'>,
  signal: AbortSignal,
): Promise<JobStatus> {
  const shares = await readShares(folders);
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
    const listener: JobRunListener = {
      planned() {},
      planEnded: () => void answerAll().then(() => run.shardsDone(), stop),
      queued: () => ({ shards: 0, sources: 0 }),
      isBesideOthers: () => false,
      lost: (lost) => void whyLost(shares, lost).then((why) => stop(new Error(why)), stop),
      abandoned() {},
      changed() {},
    };
    const answerAll = async (): Promise<void> => {
      for (const { folder, claim } of shares) {
        signal.throwIfAborted();
        await replayFacts((await readFolderLog(folder, claim)).facts(), ledger, jobId);
        run.resultsCame();
      }
    };
    const work = realWork(() => planOf(shares[0]), ledger);
    const run = new JobRun(job, { ledger, work, clock, log }, listener, () => takeResults(shares, job.scratch));
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
async function* planOf({ folder, claim }: ShareFolder): AsyncGenerator<PlannedStep[]> {
  const log = await readFolderLog(folder, claim);
  let steps: PlannedStep[] = log.notes.map((text) => ({ kind: 'note', text }));
  for (const step of log.plan()) {
    steps.push(step.kind === 'shard' ? wholeStep(step) : step);
    if (steps.length < stepsAtOnce) continue;
    yield steps;
    steps = [];
  }
  yield steps;
}

function wholeStep(step: Extract<PlannedStep, { kind: 'shard' }>): PlannedStep {
  const { elsewhere: _, ...shard } = step.shard;
  return { ...step, shard };
}

/** Gives the parts and chunks of all shares a second name in the job's scratch folder. */
async function takeResults(shares: readonly ShareFolder[], scratch: string): Promise<void> {
  for (const { folder } of shares) {
    const from = fileURLToPath(scratchUri(pathToFileURL(folder).href));
    await linkTree(from, fileURLToPath(scratch), (name) => !isLogName(name) && !name.endsWith('.tmp'));
  }
}

/** A sentence about a shard whose results are not what its share said. */
async function whyLost(shares: readonly ShareFolder[], { error, withdrawn }: LostShard): Promise<string> {
  for (const share of shares) {
    for (const step of (await readFolderLog(share.folder, share.claim)).plan()) {
      if (step.kind !== 'shard' || step.shard.shard !== withdrawn.open.shard.shard || step.shard.elsewhere) continue;
      const { number, of } = shareOf(share);
      return `Part ${number} of ${of} in '${share.folder}' is damaged: ${error}; run that part again with --fresh`;
    }
  }
  return error;
}

import { relative } from 'node:path';
import type { Job } from '@halogrid/client';
import { aborted, createClientSecurity, shutdownSignal } from '@halogrid/service';
import type { Command } from 'commander';
import { type CoordinatorClient, connectCoordinator } from '../client/coordinator-client.ts';
import { type LocalCluster, startLocalCluster } from '../cluster/local-cluster.ts';
import { coordinatorHere } from '../cluster/own-coordinator.ts';
import {
  addClusterOptions,
  type ClusterChoice,
  checkClusterChoice,
  chosenCluster,
} from '../options/cluster-options.ts';
import {
  addClientSecurityOptions,
  type ClientSecurityOption,
  type CoordinatorFileOption,
  coordinatorFileOption,
  coordinatorOf,
} from '../options/coordinator-option.ts';
import { addJobOptions, type JobOptions } from '../options/job-options.ts';
import { addShareOptions, parseSharedJob, type ShareChoice } from '../options/share-options.ts';
import { addQuietOption, addVerboseOption, checkVoice, type VoiceChoice } from '../options/voice-options.ts';
import { describePlanShortly } from '../plan/describe-plan.ts';
import { rememberRun } from '../plan/estimate/remember-run.ts';
import { onlyPreviews } from '../plan/only-previews.ts';
import { planMeanwhile } from '../plan/plan-meanwhile.ts';
import { exitCodeOfSignal } from '../process/exit-code.ts';
import { createProgressView, followJob, type ProgressView, quietView } from '../progress/follow-job.ts';
import { reportEnd } from '../summary/describe-summary.ts';
import { writeTrace } from './trace.ts';

interface RunOptions
  extends JobOptions,
    ShareChoice,
    ClusterChoice,
    ClientSecurityOption,
    CoordinatorFileOption,
    VoiceChoice {
  coordinator?: string;
  json?: boolean;
  trace?: string;
}

/**
 * The address of the job's page. The page of a cluster that `run` started needs its token, which is shown only on a
 * terminal, because other users may read logs. Elsewhere nobody could open that page, so it is not mentioned.
 */
function describePage(page: string | undefined, cluster: LocalCluster | undefined): string | undefined {
  if (!page || (cluster && !process.stderr.isTTY)) return undefined;
  return `Page: ${page}${cluster ? `\nToken of the page, valid while this runs: ${cluster.token}` : ''}`;
}

/** A note if an earlier run of the same command has its results beside this job's: the command could have kept them. */
async function describeEarlierRun(job: Job): Promise<string | undefined> {
  const { findEarlierRun } = await import('@halogrid/coordinator/earlier-run');
  const folder = await findEarlierRun(job.status.spec!, job.id);
  if (folder === undefined) return undefined;
  const shown = relative(process.cwd(), folder);
  return `An earlier run of this command has its results in ${shown}: with --out ${shown} only what is new or changed is computed.`;
}

/** How long to wait for a cancelled job to leave its output folder in order. */
const cancelWithinMs = 5_000;

export function addRunCommand(program: Command): void {
  const command = program
    .command('run')
    .description(
      'Processes images, recordings, folders and manifests: starts a coordinator and nodes on this machine, or uses a ' +
        'cluster, and waits for the results. Exits with 0: complete, 3: complete with quarantined inputs, 1: failed, ' +
        '2: wrong usage.',
    )
    .argument(
      '[source...]',
      'image, video, folder, tar, Parquet file, glob, http(s), s3, gs or az URI, or manifest (.txt, .jsonl, .parquet)',
    );
  addVerboseOption(addQuietOption(addClientSecurityOptions(addClusterOptions(addShareOptions(addJobOptions(command))))))
    .option('--coordinator <host:port,…>', 'run on this cluster instead of starting one')
    .addOption(coordinatorFileOption())
    .option('--trace <file>', "write a timeline of the shards for Perfetto, as 'halogrid trace' does")
    .option('--json', 'print a machine-readable summary on stdout, progress on stderr')
    .action(async (sources: string[], options: RunOptions) => {
      process.exitCode = await run(sources, options, command);
    });
}

async function run(sources: string[], options: RunOptions, command: Command): Promise<number> {
  const begin = performance.now();
  checkVoice(options);
  const request = await parseSharedJob(sources, options, command, process.cwd());
  checkClusterChoice(options);
  const signal = shutdownSignal();
  const view = options.quiet ? quietView : createProgressView(process.stderr, Date.now);
  const little = onlyPreviews(request.spec!);
  if (little) view.note(little);
  const isOnCluster = options.coordinator !== undefined || options.coordinatorFile !== undefined;
  const chosen = await chosenCluster(isOnCluster ? { nodes: 1 } : options);
  // The coordinator and the nodes start while the job is planned.
  const planned = { nodes: chosen.nodes, device: chosen.device, ownThreads: chosen.nodes + 2 };
  const starting = isOnCluster
    ? undefined
    : startLocalCluster({
        startCoordinator: coordinatorHere,
        ...chosen,
        note: view.note,
        log: options.verbose ? view.note : undefined,
      });
  // The error is for the code that waits for it below; until then it must not count as unhandled.
  starting?.catch(() => {});
  let client: CoordinatorClient | undefined;
  try {
    const ready = starting && Promise.race([starting.then((started) => started.ready), aborted(signal)]);
    // A plan of all shards says little about a share.
    const meanwhile = request.spec!.share
      ? await ready?.then(() => undefined)
      : ready && (await planMeanwhile(request.spec!, planned, ready));
    const { made, costs, advice } = meanwhile ?? {};
    const startSeconds = (performance.now() - begin) / 1000;
    const cluster = await starting;
    if (signal.aborted) return exitCodeOfSignal(signal.reason);
    client = cluster
      ? cluster.connect()
      : connectCoordinator(coordinatorOf(options, signal), createClientSecurity(options, process.env));
    const job = await client.submit(request).catch((error) => {
      if (!signal.aborted) throw error;
    });
    if (!job) return exitCodeOfSignal(signal.reason);
    const page = describePage(job.page, cluster);
    if (page) view.note(page);
    const { shardsDone: doneBefore, shards } = job.status.counts!;
    if (doneBefore > 0) {
      view.note(`Job ${job.id} continues: ${doneBefore} of ${shards} shards planned so far were done before.`);
    } else {
      if (made) view.note(describePlanShortly(made.plan, made.quarantine));
      if (advice) view.note(`${advice}.`);
      const earlier = cluster && request.nameOutByJob ? await describeEarlierRun(job) : undefined;
      if (earlier) view.note(earlier);
    }
    const ended = await Promise.race([followJob(job, view), stopOnAbort(job, signal, view, cluster)]);
    if (!ended || signal.aborted) return exitCodeOfSignal(signal.reason);
    // The time of a job that was interrupted or kept results says nothing about this machine.
    if (costs && doneBefore === 0) {
      const nodes = await client.nodes().catch(() => []);
      await rememberRun(ended, { costs, nodes, asked: chosen.device, startSeconds });
    }
    if (options.trace) view.note(await writeTrace(client, job.id, options.trace, '--trace'));
    return await reportEnd(ended, options);
  } finally {
    client?.close();
    await (await starting?.catch(() => undefined))?.stop();
  }
}

/**
 * When the signal aborts, leaves a job of this machine as it is, so that the same command can continue it, or cancels a
 * job of a cluster. Resolves when the job had time to end.
 */
async function stopOnAbort(
  job: Job,
  signal: AbortSignal,
  view: ProgressView,
  cluster?: LocalCluster,
): Promise<undefined> {
  await aborted(signal);
  if (cluster) {
    view.note(`Stopping job ${job.id}. Run the same command again to continue it; press Ctrl-C again to stop now.`);
    return;
  }
  view.note(`Cancelling job ${job.id}. Press Ctrl-C again to stop now.`);
  await job.cancel().catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, cancelWithinMs));
}

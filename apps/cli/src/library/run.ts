import type { Job } from '@halogrid/client';
import { threadsEach } from '@halogrid/gpu-node/gpus';
import { environment } from '../../bin/launch.mjs';
import { startLocalCluster } from '../cluster/local-cluster.ts';
import { coordinatorProcess } from '../cluster/own-coordinator.ts';
import { chosenCluster } from '../options/cluster-options.ts';
import { ownJob } from './own-job.ts';
import { readRun } from './read-run.ts';
import type { RunOptions } from './run-options.ts';
import { typedError } from './typed-error.ts';

/**
 * Starts a coordinator and nodes on this machine, and submits a job to them. The processes end with the job, when
 * `signal` aborts, and with this process. Rejects with HalogridError if the job is not accepted, and with the reason of
 * the signal.
 */
export async function run(options: RunOptions): Promise<Job> {
  try {
    const { request, choice } = readRun(options, process.cwd());
    const { signal, note = () => {} } = options;
    signal?.throwIfAborted();
    const chosen = await chosenCluster(choice);
    // The command sets the number of libuv's threads for its nodes; the number of this process says nothing about them.
    const threads = threadsEach(chosen.nodes, Number(environment().UV_THREADPOOL_SIZE));
    return await ownJob(
      await startLocalCluster({ startCoordinator: coordinatorProcess, ...chosen, threads, note }),
      request,
      signal,
    );
  } catch (error) {
    throw typedError(error);
  }
}

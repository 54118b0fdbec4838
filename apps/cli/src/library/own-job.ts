import { Job } from '@halogrid/client';
import { hasEnded, type JobStatus, type SubmitRequest } from '@halogrid/proto';
import { aborted } from '@halogrid/service';
import type { LocalCluster } from '../cluster/local-cluster.ts';
import { nameInProgram } from './name-in-program.ts';

/**
 * Submits the only job of a cluster, which is stopped when the job is over, or `signal` aborts. All who follow the job
 * are told by one watch, and of its end once the processes are gone.
 */
export async function ownJob(cluster: LocalCluster, request: SubmitRequest, signal?: AbortSignal): Promise<Job> {
  const transport = cluster.dial(nameInProgram);
  const never = Promise.withResolvers<never>().promise;
  const stopped = signal ? aborted(signal).then(() => Promise.reject(signal.reason)) : never;
  stopped.catch(() => {});
  const stop = async (): Promise<void> => {
    transport.close();
    await cluster.stop();
  };
  // Where no node starts, nothing is left behind: no job is submitted.
  const submitted = await Promise.race([cluster.ready.then(() => transport.submit(request)), stopped]).catch(
    async (error) => {
      await stop();
      throw error;
    },
  );

  const id = submitted.status.jobId;
  let last = submitted.status;
  let failure: { reason: unknown } | undefined;
  let isOver = false;
  let change = Promise.withResolvers<void>();
  const tell = (): void => {
    change.resolve();
    change = Promise.withResolvers();
  };
  const follow = async (): Promise<void> => {
    let status = last;
    try {
      const stream = transport.watch(id);
      while (!hasEnded(status)) {
        const next = await Promise.race([stream.next(), stopped]);
        if (next.done) break;
        status = next.value;
        if (!hasEnded(status)) last = status;
        tell();
      }
    } catch (reason) {
      failure = { reason };
    }
    await stop();
    last = status;
    isOver = true;
    tell();
  };
  const over = follow();

  async function* watch(): AsyncGenerator<JobStatus, void> {
    let seen: JobStatus | undefined;
    for (;;) {
      if (isOver && failure) throw failure.reason;
      if (seen === last && isOver) return;
      if (seen === last) await change.promise;
      else {
        seen = last;
        yield seen;
      }
    }
  }
  const cancel = async (): Promise<JobStatus> => {
    // Where it ends meanwhile, its end is told.
    await Promise.race([isOver ? undefined : transport.cancel(id), over]);
    await over;
    return last;
  };
  return new Job({ address: transport.address, results: transport.results, watch, cancel }, last);
}

import { Job } from '@halogrid/client';
import { hasEnded, type JobStatus, type SubmitRequest } from '@halogrid/proto';
import { aborted } from '@halogrid/service';
import type { LocalCluster } from '../cluster/local-cluster.ts';
import { nameInProgram } from './name-in-program.ts';

/**
 * Submits the only job of a cluster. The cluster is stopped when the job has ended or `signal` aborts. All who watch
 * the job share one stream, and see its end once the processes have ended.
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
  // If no node starts, no job is submitted, so no output folder is left behind.
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
    // If the job ends meanwhile, that end counts.
    await Promise.race([isOver ? undefined : transport.cancel(id), over]);
    await over;
    return last;
  };
  const { address, results, pause, resume } = transport;
  return new Job({ address, results, watch, cancel, pause, resume }, last);
}

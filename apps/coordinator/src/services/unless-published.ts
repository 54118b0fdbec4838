import type { Ledger } from '@halogrid/ledger';

/**
 * What is read from the log and the parts of a job that is led here. Undefined if they cannot be read because its
 * output is published: they are removed then.
 */
export async function unlessPublished<Read>(
  jobId: string,
  ledger: Pick<Ledger, 'getJob'>,
  reading: Promise<Read>,
): Promise<Read | undefined> {
  try {
    return await reading;
  } catch (error) {
    if ((await ledger.getJob(jobId))?.state === 'running') throw error;
    return undefined;
  }
}

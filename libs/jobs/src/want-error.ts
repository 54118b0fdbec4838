/**
 * Ends a job because it lacks a node, a host or room on a disk. The message is one sentence with the remedy. The inputs
 * of the job are not at fault, and the same command continues the job.
 */
export class WantError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WantError';
  }
}

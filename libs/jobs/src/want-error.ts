/**
 * A job ends because a node, a host or room on a disk is missing. The message is one sentence with the remedy. The
 * inputs of the job are not at fault, and the same command goes on from where the job was.
 */
export class WantError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WantError';
  }
}

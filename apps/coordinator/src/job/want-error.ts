/**
 * A job ends for want of something outside of it, in one sentence with the remedy: a node, a host, room on a disk. Nothing is wrong with its
 * inputs, and the same command goes on from where it was.
 */
export class WantError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WantError';
  }
}

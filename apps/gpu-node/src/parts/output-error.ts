/**
 * The results of a shard cannot be written: the disk is full, the folder is gone. Nothing is wrong with its sources.
 */
export class OutputError extends Error {
  constructor(cause: unknown) {
    super(`The results cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'OutputError';
  }
}

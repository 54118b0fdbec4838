/** The results of a shard cannot be written: the disk is full, or the folder is gone. The sources are fine. */
export class OutputError extends Error {
  constructor(cause: unknown) {
    super(`The results cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'OutputError';
  }
}

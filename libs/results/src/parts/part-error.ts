/** A part that cannot be written or read, or does not have what it is said to have. */
export class PartError extends Error {
  override name = 'PartError';
  /** Its folder. */
  readonly part: string;
  /** Whether its files are as they were written, and are not what its writer said: only the writer can be at fault. */
  readonly isFalse: boolean;
  /** That of a system error that is the cause. */
  readonly code: string | undefined;

  /** `what` follows the name of the part in the sentence. Without a cause, what its writer said is false. */
  constructor(part: string, what: string, cause?: unknown) {
    super(`Part '${part}' ${what}`, { cause });
    this.part = part;
    this.isFalse = cause === undefined;
    this.code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  }
}

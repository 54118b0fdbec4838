/** Thrown if a part cannot be written or read, or differs from the answer. */
export class PartError extends Error {
  override name = 'PartError';
  /** The folder of the part. */
  readonly part: string;
  /**
   * Whether the files are as they were written, but differ from the writer's answer: only the writer can be at fault.
   */
  readonly isFalse: boolean;
  /** The code of the system error that is the cause. */
  readonly code: string | undefined;

  /** `what` follows the name of the part in the sentence. Without a cause, the writer's answer was false. */
  constructor(part: string, what: string, cause?: unknown) {
    super(`Part '${part}' ${what}`, { cause });
    this.part = part;
    this.isFalse = cause === undefined;
    this.code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  }
}

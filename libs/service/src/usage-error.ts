/** The request itself is wrong: one sentence that names the value and what is allowed. Commands exit with 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

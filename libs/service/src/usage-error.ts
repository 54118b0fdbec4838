/** The request itself is wrong: one sentence that names the value and what is allowed. Commands exit with 2. */
export class UsageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UsageError';
  }
}

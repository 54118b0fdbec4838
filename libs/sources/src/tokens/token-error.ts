/** Why there is no token, in one sentence without secrets. `failure`: how a request for it failed. */
export class TokenError extends Error {
  readonly failure: { status: number } | { code: string } | 'late' | undefined;

  constructor(message: string, failure?: TokenError['failure']) {
    super(message);
    this.name = 'TokenError';
    this.failure = failure;
  }
}

/** A request for what is handed over that is refused: an HTTP status and one sentence. */
export class HandOverError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'HandOverError';
    this.status = status;
  }
}

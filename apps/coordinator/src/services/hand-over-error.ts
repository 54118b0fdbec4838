/** Why a request to /handover is refused: an HTTP status and one sentence. */
export class HandOverError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'HandOverError';
    this.status = status;
  }
}

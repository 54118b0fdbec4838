/** A source that leads to no input: one sentence. */
export class SourceNotFoundError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SourceNotFoundError';
  }
}

/** A source that no version, or not this one, can read from: one sentence. */
export class SourceUriError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SourceUriError';
  }
}

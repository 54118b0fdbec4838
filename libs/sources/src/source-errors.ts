/** A source that leads to no input: one sentence. */
export class SourceNotFoundError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SourceNotFoundError';
  }
}

/** A source with a URI that cannot be read, or not by this version: one sentence. */
export class SourceUriError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SourceUriError';
  }
}

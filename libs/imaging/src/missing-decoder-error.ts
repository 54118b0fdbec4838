/** What decodes inputs of this kind is not installed here, or does not load: one sentence. It is no input's fault. */
export class MissingDecoderError extends Error {
  readonly decodes: 'jpeg' | 'video';

  constructor(decodes: 'jpeg' | 'video', message: string) {
    super(message);
    this.name = 'MissingDecoderError';
    this.decodes = decodes;
  }
}

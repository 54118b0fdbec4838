/**
 * The decoder for inputs of this kind is not installed here, or does not load. The message is one sentence. No input is
 * at fault.
 */
export class MissingDecoderError extends Error {
  readonly decodes: 'jpeg' | 'video' | 'slide';

  constructor(decodes: 'jpeg' | 'video' | 'slide', message: string) {
    super(message);
    this.name = 'MissingDecoderError';
    this.decodes = decodes;
  }
}

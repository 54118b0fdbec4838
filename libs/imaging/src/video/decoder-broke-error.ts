/**
 * A process that decodes was ended by a signal that programs get for what they do themselves. The video may be at fault, and so may
 * the machine or the library, so it is no InputError: another attempt, elsewhere, tells more.
 */
export class DecoderBrokeError extends Error {
  constructor(why: string) {
    super(`The decoder broke down: ${why}`);
    this.name = 'DecoderBrokeError';
  }
}

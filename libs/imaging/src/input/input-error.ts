/**
 * Something is wrong with an input, in one sentence, so it is set aside; trying again would fail again. `read`: its bytes
 * cannot be had; `decode`: they are not an image that can be processed. Whatever else goes wrong (out of memory, out of
 * file descriptors, no decoder for this platform) is a plain error and not the input's fault.
 */
export class InputError extends Error {
  readonly stage: 'read' | 'decode';

  constructor(stage: 'read' | 'decode', message: string) {
    super(message);
    this.name = 'InputError';
    this.stage = stage;
  }
}

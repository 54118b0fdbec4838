/**
 * Something is wrong with an input, in one sentence, so it is set aside; trying again would fail again, unless it says that
 * it may pass. `read`: its bytes
 * cannot be had; `decode`: they are not an image that can be processed. Whatever else goes wrong (out of memory, out of
 * file descriptors, no decoder for this platform) is a plain error and not the input's fault.
 */
export class InputError extends Error {
  readonly stage: 'read' | 'decode';
  /** A host or a network failed, perhaps not for long, and perhaps not for other machines. */
  readonly mayPass: boolean;

  constructor(stage: 'read' | 'decode', message: string, mayPass = false) {
    super(message);
    this.name = 'InputError';
    this.stage = stage;
    this.mayPass = mayPass;
  }
}

/**
 * What an InputError tells of the input.
 *
 * - `content`: the bytes are not an image that can be processed, and will not be one elsewhere: damage, format, limits.
 * - `access`: the bytes cannot be read here: not found, forbidden, an error of input or output, too many open files.
 *   Another machine may be able to read them.
 * - `away`: the host or bucket gave no answer about this input (see transferFault), though it may have given others.
 * - `closed`: the host or bucket refuses the keys, at least for this input.
 * - `changed`: there are other bytes than those that were asked for.
 * - `process`: this process has too many files open, or no memory: that tells nothing of the input.
 */
export type InputFault = 'content' | 'access' | 'away' | 'closed' | 'changed' | 'process';

/**
 * An input cannot be processed, in one sentence. `stage` is where that showed: `read`: its bytes cannot be had;
 * `decode`: they are not an image that can be processed. Whatever else goes wrong (out of memory, no decoder for this
 * platform) is a plain error and not the input's.
 */
export class InputError extends Error {
  readonly stage: 'read' | 'decode';
  readonly fault: InputFault;

  /** Unless given, what cannot be read is a matter of access, and what cannot be decoded of content. */
  constructor(
    stage: 'read' | 'decode',
    message: string,
    { fault = stage === 'read' ? 'access' : 'content' }: { fault?: InputFault } = {},
  ) {
    super(message);
    this.name = 'InputError';
    this.stage = stage;
    this.fault = fault;
  }
}

/** There is another file than the one that was asked for, in one sentence. */
export const changedInput = (message: string): InputError => new InputError('read', message, { fault: 'changed' });

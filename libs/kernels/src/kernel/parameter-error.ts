import { didYouMean } from './did-you-mean.ts';
import { shortened } from './shortened.ts';

/** Parameters that do not belong to a kernel: callers have their own names for these. */
const ofCaller: readonly string[] = ['the kernel', 'the grid'];

/**
 * A parameter whose value is not allowed. The message is one sentence with its name, its value and the allowed values.
 */
export class ParameterError extends Error {
  readonly parameter: string;
  /** The allowed values, as a clause. */
  readonly allowed: string;
  /** The allowed values, if these are words. */
  readonly choices: readonly string[];
  readonly #received: string;

  /**
   * `allowed`: a clause, e.g. 'an odd number from 3 to 31', or the allowed words. `near`: words that may have been
   * meant.
   */
  constructor(parameter: string, value: unknown, allowed: string | readonly string[], near?: readonly string[]) {
    const choices = typeof allowed === 'string' ? [] : allowed;
    const clause =
      typeof allowed === 'string' ? allowed : `${allowed.length > 1 ? 'one of ' : ''}${allowed.join(', ')}`;
    const received = `but received '${shortened(value)}'${didYouMean(String(value), near ?? choices)}`;
    super(`Expected ${clause} for ${shortened(parameter)} ${received}`);
    this.name = 'ParameterError';
    this.parameter = parameter;
    this.allowed = clause;
    this.choices = choices;
    this.#received = received;
  }

  /**
   * The sentence without the parameter's name, for callers that have another name for it: the text before and after the
   * name.
   */
  aroundName(): [before: string, after: string] {
    if (!ofCaller.includes(this.parameter)) return [`${this.message} (`, ')'];
    return [`Expected ${this.allowed} for `, ` ${this.#received}`];
  }
}

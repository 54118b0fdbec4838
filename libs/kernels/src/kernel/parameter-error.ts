import { didYouMean } from './did-you-mean.ts';
import { shortened } from './shortened.ts';

/** Parameters that are no kernel's: callers have names of their own for these. */
const ofCaller: readonly string[] = ['the kernel', 'the grid'];

/** A parameter that is not allowed: one sentence with its name, its value and what is allowed. */
export class ParameterError extends Error {
  readonly parameter: string;
  /** What is allowed, as a clause. */
  readonly allowed: string;
  /** What is allowed, where that is one of some words. */
  readonly choices: readonly string[];
  readonly #received: string;

  /**
   * `allowed` as a clause, e.g. 'an odd number from 3 to 31', or the words that are; `near` are words that may be
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

  /** The sentence for a caller who has a name for where the parameter is: what comes before that name, and after it. */
  aroundName(): [before: string, after: string] {
    if (!ofCaller.includes(this.parameter)) return [`${this.message} (`, ')'];
    return [`Expected ${this.allowed} for `, ` ${this.#received}`];
  }
}

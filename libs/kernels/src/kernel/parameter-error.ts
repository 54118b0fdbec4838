import { shortened } from './shortened.ts';

/** A parameter that is not allowed: one sentence with its name, its value and what is allowed. */
export class ParameterError extends Error {
  /** `allowed` as a clause, e.g. 'one of a, b' or 'an odd number from 3 to 31'. */
  constructor(parameter: string, value: unknown, allowed: string) {
    super(`Expected ${allowed} for ${shortened(parameter)} but received '${shortened(value)}'`);
    this.name = 'ParameterError';
  }
}

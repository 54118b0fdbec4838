/** A parameter that is not allowed: one sentence with its name, its value and what is allowed. */
export class ParameterError extends Error {
  readonly parameter: string;

  constructor(parameter: string, value: unknown, allowed: string) {
    super(`Expected one of ${allowed} for ${parameter} but received '${String(value)}'`);
    this.name = 'ParameterError';
    this.parameter = parameter;
  }
}

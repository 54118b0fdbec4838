import { InputError } from '../input-error.ts';

/** What this process reads and writes for jobs, whoever asks for them. */
export interface SourceAccess {
  /** Real paths of the folders that sources and outputs must lie in; undefined: wherever the process may. */
  roots: readonly string[] | undefined;
  /** Hosts of http: and https: sources: NAME, *.NAME for all below it, or *; undefined: every host. */
  hosts: readonly string[] | undefined;
}

export const unrestricted: SourceAccess = { roots: undefined, hosts: undefined };

/**
 * A matter of the process, as its S3 credentials are, and not of a call: so no way to read a source can be left out. It
 * is set once, before the first job.
 */
let current = unrestricted;

export function restrictSources(access: SourceAccess): void {
  current = access;
}

export const sourceAccess = (): SourceAccess => current;

/** The source is not among those that this process may read: one sentence, which says nothing of what is there. */
export class SourceForbiddenError extends InputError {
  constructor(message: string) {
    super('read', message);
    this.name = 'SourceForbiddenError';
  }
}

import { InputError } from '../input-error.ts';

/** What this process may read and write for jobs, no matter who asks for them. */
export interface SourceAccess {
  /** Real paths of the folders that sources and outputs must lie in; undefined: wherever the process may. */
  roots: readonly string[] | undefined;
  /** Where outputs in buckets must lie if there are roots, as URIs without a '/' at their ends. */
  prefixes?: readonly string[];
  /** Hosts of http: and https: sources: NAME, *.NAME for all below it, or *; undefined: every host. */
  hosts: readonly string[] | undefined;
}

export const unrestricted: SourceAccess = { roots: undefined, hosts: undefined };

/**
 * Set for the whole process, like its S3 credentials, and not for a call, so that no way to read a source is left out.
 * It is set once, before the first job.
 */
let current = unrestricted;

export function restrictSources(access: SourceAccess): void {
  current = access;
}

export const sourceAccess = (): SourceAccess => current;

/** This process may not read the source. The message is one sentence, which tells nothing of what is there. */
export class SourceForbiddenError extends InputError {
  constructor(message: string) {
    super('read', message);
    this.name = 'SourceForbiddenError';
  }
}

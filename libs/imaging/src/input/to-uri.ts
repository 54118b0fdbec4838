import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A source that no version, or not this one, can read from: one sentence. */
export class SourceUriError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SourceUriError';
  }
}

/**
 * The absolute file: URI of a path (relative to `cwd`) or URI as a person writes it. Glob characters stay what they are:
 * `listSources` tells a glob from a name. Throws SourceUriError for other schemes and for what is no URI of this machine.
 */
export function toUri(pathOrUri: string, cwd: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(pathOrUri)?.[1]?.toLowerCase();
  if (!scheme) return pathToFileURL(resolve(cwd, pathOrUri)).href;
  if (scheme !== 'file') {
    throw new SourceUriError(`'${pathOrUri}' is not supported yet: expected a path or a file: URI`);
  }
  try {
    // A file: URI has no query and no fragment, so these are part of a glob or of a name.
    return pathToFileURL(fileURLToPath(pathOrUri.replaceAll('?', '%3F').replaceAll('#', '%23'))).href;
  } catch (error) {
    throw new SourceUriError(`'${pathOrUri}' is not the URI of a file on this machine: ${(error as Error).message}`);
  }
}

import { createHash } from 'node:crypto';

/** The adapter that a measurement holds for, as DeviceInfo names it. */
export interface TunedAdapter {
  name: string;
  driver: string;
}

/**
 * The name of the file for one kind of measurement (`what`) of an adapter. Each has its own file, so that two measured
 * at the same time do not overwrite each other.
 */
export function nameOfFile(what: string, { name, driver }: TunedAdapter): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([name, driver]))
    .digest('hex');
  return `${what}-${hash.slice(0, 16)}.json`;
}

export function isAbsent(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

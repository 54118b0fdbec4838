import { createHash } from 'node:crypto';

/** What a measurement of an adapter holds for, as DeviceInfo names it. */
export interface TunedAdapter {
  name: string;
  driver: string;
}

/**
 * A file an adapter for each thing that is kept of it, so that two that are measured at the same time do not overwrite
 * each other.
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

import { readFileSync, statSync } from 'node:fs';
import { UsageError } from '../usage-error.ts';
import { parseOwners, type RulesOfOwners } from './owner-rules.ts';
import { type Warn, WatchedFiles } from './watched-files.ts';

const maxBytes = 2 ** 20;

/** The rules of a file of owners, which may change without a restart: the same object until then. */
export function watchOwners(path: string, warn: Warn, nowMs: () => number): () => RulesOfOwners {
  const file = new WatchedFiles('The rules of owners', [path], () => readOwners(path), nowMs());
  return () => file.current(nowMs(), warn);
}

/** Reads a file of owners, which other users must not be able to change. Throws UsageError. */
export function readOwners(path: string): RulesOfOwners {
  const where = `'${path}' (--owners)`;
  try {
    const { mode, size } = statSync(path);
    if (size > maxBytes) throw new UsageError(`Expected a file of at most ${maxBytes} bytes but ${where} has ${size}`);
    if ((mode & 0o022) !== 0) {
      throw new UsageError(`The file ${where} can be changed by other users: 'chmod go-w ${path}' keeps them out`);
    }
    return parseOwners(readFileSync(path, 'utf8'), where);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`The file ${where} cannot be read: ${(error as Error).message}`);
  }
}

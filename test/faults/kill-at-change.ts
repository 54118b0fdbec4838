import { appendFileSync, statSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { isMainThread } from 'node:worker_threads';

// Loaded into a process before the program, by tests that kill it between any two changes of the disk: files, folders,
// syncs and SQLite statements, in all of its threads.

export interface KillAt {
  /** The command that the process runs. Processes that it starts run other commands, and are not affected. */
  command: string;
  /** A file that grows by a byte with each change. */
  counter: string;
  /** Number, from 1, of the change before which the process is killed; without it, changes are only counted. */
  change?: number;
}

/** Environment variables with which to start the process. */
export function killedAtChange(kill: KillAt): Record<string, string> {
  return { NODE_OPTIONS: `--import=${import.meta.url}`, HALOGRID_TEST_KILL: JSON.stringify(kill) };
}

const asked: KillAt | undefined = JSON.parse(process.env.HALOGRID_TEST_KILL ?? 'null') ?? undefined;

/**
 * An environment variable with the process's id, for its threads, which do not know the command. Processes that inherit
 * it have another id.
 */
const mark = 'HALOGRID_TEST_KILL_PROCESS';
if (isMainThread && asked?.command === process.argv[2]) process.env[mark] = String(process.pid);

if (asked && process.env[mark] === String(process.pid)) {
  const handle = await fs.open(asked.counter, 'a');
  const ofHandles = ['write', 'writev', 'writeFile', 'appendFile', 'sync', 'datasync', 'truncate'];
  countCalls(asked, Object.getPrototypeOf(handle), ofHandles);
  await handle.close();
  countCalls(asked, fs, ['mkdir', 'rename', 'rm', 'rmdir', 'unlink', 'writeFile', 'truncate']);
  countCalls(asked, DatabaseSync.prototype, ['exec']);
  countCalls(asked, StatementSync.prototype, ['run']);
  syncBuiltinESMExports();
}

function countCalls(
  { counter, change = Number.POSITIVE_INFINITY }: KillAt,
  owner: object,
  names: readonly string[],
): void {
  const functions = owner as Record<string, (...args: unknown[]) => unknown>;
  for (const name of names) {
    const real = functions[name]!;
    functions[name] = function (this: unknown, ...args: unknown[]): unknown {
      appendFileSync(counter, '.');
      if (statSync(counter).size >= change) process.kill(process.pid, 'SIGKILL');
      return real.apply(this, args);
    };
  }
}

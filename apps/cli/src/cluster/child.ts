import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { UsageError } from '@halogrid/service';
import { environment, main, nodeFlags } from '../../bin/launch.mjs';
import { exitCodes } from '../process/exit-code.ts';

/** How a process ended: with an exit code, or by a signal. */
export type Ending = { code: number; signal?: undefined } | { code?: undefined; signal: NodeJS.Signals };

/** A coordinator or node that this process started and that ends with it. */
export interface Child {
  readonly pid: number;
  /** The line of JSON that it prints on stdout once it serves; undefined if it ended before. */
  readonly ready: Promise<Record<string, unknown> | undefined>;
  readonly ended: Promise<Ending>;
  /** The end of its log, for people. */
  logTail(): string[];
  /** Sends it a word, which it receives with wordOfParent. */
  tell(word: string): void;
  /** Asks it to finish its work and end. */
  drain(): void;
  /** Asks it to end, kills it if that takes too long, and resolves when it has ended. */
  stop(): Promise<void>;
}

/** Lines of a child's log that are kept: enough to see why it failed. */
const keptLines = 20;

/** A child that is stopped has this long to end by itself. */
const patienceMs = 3_000;

export interface ChildOptions {
  /** Words before the command, such as a program that isolates it from devices and then becomes the command. */
  prefix?: readonly string[];
  /** Threads on which it reads and decodes (default: as many as this process). */
  threads?: number;
  /** Variables in addition to the environment of this process. */
  env?: Record<string, string>;
  /** Takes each line of its log. */
  onLog?: (line: string) => void;
}

/** Starts `halogrid ...args` as a process of its own. */
export function startChild(args: readonly string[], { prefix = [], threads, env, onLog }: ChildOptions = {}): Child {
  const [program, ...words] = [...prefix, process.execPath, ...nodeFlags(args), main, ...args];
  const inherited = environment();
  const child = spawn(program!, words, {
    // Through the IPC channel the child notices the end of this process (see endWithParent) and receives words.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A process group of its own: only this process receives Ctrl-C from the terminal, and stops its children in order.
    detached: true,
    env: { ...inherited, UV_THREADPOOL_SIZE: String(threads ?? inherited.UV_THREADPOOL_SIZE), ...env },
  });
  const tail: string[] = [];
  createInterface({ input: child.stderr! }).on('line', (line) => {
    tail.push(plainLogLine(line));
    if (tail.length > keptLines) tail.shift();
    onLog?.(line);
  });
  // Unlike 'exit', 'close' comes after the last output.
  const ended = new Promise<Ending>((resolve) => {
    child.on('error', (error) => tail.push(error.message));
    child.on('close', (code, signal) => resolve(signal ? { signal } : { code: code ?? 1 }));
  });
  const firstJson = new Promise<Record<string, unknown>>((resolve) => {
    // A driver may have printed something before.
    createInterface({ input: child.stdout! }).on('line', (line) => line.startsWith('{') && resolve(JSON.parse(line)));
  });
  return {
    pid: child.pid!,
    ready: Promise.race([firstJson, ended.then(() => undefined)]),
    ended,
    logTail: () => [...tail],
    // An error only means that the child has ended, which `ended` reports.
    tell: (word) => void child.send(word, () => {}),
    drain: () => void child.kill('SIGTERM'),
    async stop() {
      child.kill('SIGTERM');
      const impatience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
      await ended;
      clearTimeout(impatience);
    },
  };
}

/** How a process ended, as a clause. */
export function describeEnding(ending: Ending): string {
  return ending.signal ? `was ended by ${ending.signal}` : `ended with exit code ${ending.code}`;
}

/** Restarts of one node at most: a node that has died this often will die again. */
export const maxRestarts = 3;

/** What to do about a node that ended though the job goes on. */
export type NodeEndAction = 'restart' | 'go on without it' | 'give up';

/**
 * A node that served is restarted, a few times. One that never served would fail again: its device cannot be opened.
 * The job goes on as long as another node lives.
 */
export function afterNodeEnd(node: { hasServed: boolean; restarts: number }, othersAlive: number): NodeEndAction {
  if (node.hasServed && node.restarts < maxRestarts) return 'restart';
  return othersAlive > 0 ? 'go on without it' : 'give up';
}

/** A line of a structured log for people: level, message and error. Other text is returned unchanged. */
export function plainLogLine(line: string): string {
  try {
    const { level, msg, err } = JSON.parse(line);
    if (typeof msg !== 'string') return line;
    const reason = err?.message && !msg.includes(err.message) ? `: ${err.message}` : '';
    return `${level} ${msg}${reason}`;
  } catch {
    return line;
  }
}

/**
 * The message of a log line that is marked `notice`, for the person who waits for the work; undefined for other lines.
 */
export function noticeOf(line: string): string | undefined {
  if (!line.includes('"notice":true')) return undefined;
  try {
    const { msg } = JSON.parse(line);
    return typeof msg === 'string' ? msg : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Why a process has ended: the sentence with which it refused its arguments, or how it ended and the end of its log.
 */
export async function whyEnded(who: string, child: Child): Promise<Error> {
  const ending = await child.ended;
  const tail = child.logTail();
  const refusal = /^halogrid: (.*)$/.exec(tail.at(-1) ?? '')?.[1];
  if (ending.code === exitCodes.usage && refusal) return new UsageError(refusal);
  const lastWords = tail.map((line) => `\n  ${line}`).join('');
  return new Error(`${who} ${describeEnding(ending)}${lastWords && `; the end of its log:${lastWords}`}`);
}

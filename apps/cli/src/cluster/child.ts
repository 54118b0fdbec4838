import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { UsageError } from '@halogrid/service';
import { environment, main, nodeFlags } from '../../bin/launch.mjs';
import { exitCodes } from '../process/exit-code.ts';

/** How a process ended, e.g. `exit code 1` or `SIGKILL`. */
export type Ending = { code: number; signal?: undefined } | { code?: undefined; signal: NodeJS.Signals };

/** A coordinator or node that this process started and that ends with it. */
export interface Child {
  readonly pid: number;
  /** What it says on stdout, as a line of JSON, once it serves; undefined if it ended before. */
  readonly ready: Promise<Record<string, unknown> | undefined>;
  readonly ended: Promise<Ending>;
  /** The end of its log, for people. */
  logTail(): string[];
  /** Sends it a word: see wordOfParent. */
  tell(word: string): void;
  /** Asks it to end, in its own time. */
  drain(): void;
  /** Asks it to end, makes it end after a while, and resolves when it has. */
  stop(): Promise<void>;
}

/** Lines of a child's log that are kept: enough to see why it failed. */
const keptLines = 20;

/** A child that is asked to end gets this long; what it holds is not wanted any more. */
const patienceMs = 3_000;

export interface ChildOptions {
  /** Words before the command, which it becomes without another process, e.g. those that isolate it from devices. */
  prefix?: readonly string[];
  /** Threads on which it reads and decodes; as many as this process has unless given. */
  threads?: number;
  /** Settings beside those of this process. */
  env?: Record<string, string>;
  /** Takes each line of its log. */
  onLog?: (line: string) => void;
}

/** Starts `halogrid ...args` as a process of its own. */
export function startChild(args: readonly string[], { prefix = [], threads, env, onLog }: ChildOptions = {}): Child {
  const [program, ...words] = [...prefix, process.execPath, ...nodeFlags(args), main, ...args];
  const child = spawn(program!, words, {
    // The IPC channel tells the child when this process is gone (see endWithParent), and what it is told.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A process group of its own: a Ctrl-C on the terminal is for this process, which then stops its children in order.
    detached: true,
    env: { ...environment(), ...(threads !== undefined && { UV_THREADPOOL_SIZE: String(threads) }), ...env },
  });
  const tail: string[] = [];
  createInterface({ input: child.stderr! }).on('line', (line) => {
    tail.push(plainLogLine(line));
    if (tail.length > keptLines) tail.shift();
    onLog?.(line);
  });
  // 'close' comes after the last of its output, unlike 'exit'.
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
    // One that has ended hears nothing, and `ended` says why.
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

/** Starts of one node, at most, after the first: a node that dies that often will die again. */
export const maxRestarts = 3;

/** What to do about a node that ended though the job goes on. */
export type NodeEndAction = 'restart' | 'go on without it' | 'give up';

/**
 * A node that served is started again, a few times. One that never served would fail again: its device cannot be opened.
 * The job goes on as long as another node lives.
 */
export function afterNodeEnd(node: { hasServed: boolean; restarts: number }, othersAlive: number): NodeEndAction {
  if (node.hasServed && node.restarts < maxRestarts) return 'restart';
  return othersAlive > 0 ? 'go on without it' : 'give up';
}

const levels: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

/** A line of a structured log for people: its level, its message and its error; other text as it is. */
export function plainLogLine(line: string): string {
  try {
    const { level, msg, err } = JSON.parse(line);
    if (typeof msg !== 'string') return line;
    const reason = err?.message && !msg.includes(err.message) ? `: ${err.message}` : '';
    return `${levels[level] ?? 'info'} ${msg}${reason}`;
  } catch {
    return line;
  }
}

/** The message of a line that is for whoever waits for the program's work, marked `notice`; undefined for all others. */
export function noticeOf(line: string): string | undefined {
  if (!line.includes('"notice":true')) return undefined;
  try {
    const { msg } = JSON.parse(line);
    return typeof msg === 'string' ? msg : undefined;
  } catch {
    return undefined;
  }
}

/** Why a process is gone: the sentence with which it refused what it was asked, or how it ended and what it said last. */
export async function whyEnded(who: string, child: Child): Promise<Error> {
  const ending = await child.ended;
  const tail = child.logTail();
  const refusal = /^halogrid: (.*)$/.exec(tail.at(-1) ?? '')?.[1];
  if (ending.code === exitCodes.usage && refusal) return new UsageError(refusal);
  const lastWords = tail.map((line) => `\n  ${line}`).join('');
  return new Error(`${who} ${describeEnding(ending)}${lastWords && `; the end of its log:${lastWords}`}`);
}

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { programLimitMs, showOnFailure, within as waitWithin } from '@halogrid/testing';
import { environment, main, nodeFlags } from '../apps/cli/bin/launch.mjs';
import './own-folders.ts';
import { type ProcessInfo, processesWith } from './process-list.ts';

const launcher = fileURLToPath(new URL('../apps/cli/bin/halogrid.mjs', import.meta.url));

const asOlderNode = ['--import', 'data:text/javascript,delete process.execve'];

/** A variable in the environment of every process that this test file starts, directly or not. */
const ofThisFile = `HALOGRID_TEST=${randomUUID()}`;

/** No process outlives its test file. If nothing failed, there is no process left to end. */
process.once('exit', () => {
  for (const { pid, role } of processesWith(ofThisFile)) {
    console.error(`The ${role} with process id ${pid} was left running`);
    process.exitCode = 1;
    killNow(pid);
  }
});

/**
 * A program that lives longer than this is ended, and the test fails; even on a slow machine none needs so much. The
 * limit is longer if a cluster is to bear many faults.
 */
const defaultMaxLifeMs = Math.max(programLimitMs, 12_000 * Number(process.env.HALOGRID_FAULT_RUNS ?? 0));

/** How a program ended. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface HalogridOptions {
  /** The working folder (this process's). */
  cwd?: string;
  /** Start a new process group, as a shell does, so that signals can go to the whole group. */
  ownGroup?: boolean;
  /**
   * Run the launcher under a Node that cannot replace its process, such as one before 22.15: the launcher stays beside
   * the program.
   */
  olderNode?: boolean;
  /** Start by npx in the checkout, as users do. npx and its shell stay beside the program. */
  npx?: boolean;
  /** Arguments of a command that runs the launcher; the launcher's command follows them. */
  within?: readonly string[];
  /** The launcher of an installed halogrid, instead of the checkout's. */
  installed?: string;
  /**
   * Start the program directly instead of the launcher, which saves 35 ms of processor time; only without `olderNode`.
   */
  withoutLauncher?: boolean;
  /** For programs that are measured, not tested. */
  maxLifeMs?: number;
  /** Environment variables in addition to this process's. */
  env?: Record<string, string>;
}

/** `halogrid ...args` as a child process through its launcher, with all processes that it starts. */
export class Halogrid {
  /** Id of the launcher's process, which becomes the program. */
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** The first line of stdout as JSON; rejects if the program ends without one. */
  readonly firstLine: Promise<Record<string, unknown>>;
  readonly #child: ChildProcess;
  readonly #mark = `HALOGRID_TEST_PROGRAM=${randomUUID()}`;
  #stdout = '';
  #stderr = '';

  constructor(args: readonly string[], options: HalogridOptions = {}) {
    const { cwd, ownGroup = false, olderNode = false, within = [], maxLifeMs = defaultMaxLifeMs, env } = options;
    const { withoutLauncher = false, npx = false, installed } = options;
    const program = withoutLauncher ? [...nodeFlags(args), main] : [...(olderNode ? asOlderNode : []), launcher];
    const start = installed === undefined ? [process.execPath, ...program] : [installed];
    const marks = [ofThisFile, this.#mark].map((setting) => setting.split('='));
    const [command, ...words] = npx ? ['npx', 'halogrid', ...args] : [...within, ...start, ...args];
    this.#child = spawn(command!, words, {
      cwd,
      detached: ownGroup,
      env: { ...(withoutLauncher ? environment() : process.env), ...env, ...Object.fromEntries(marks) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.pid = this.#child.pid!;
    const { stdout, stderr } = this.#child;
    stdout!.setEncoding('utf8').on('data', (text) => {
      this.#stdout += text;
    });
    stderr!.setEncoding('utf8').on('data', (text) => {
      this.#stderr += text;
    });
    this.ended = new Promise((resolve, reject) => {
      this.#child.on('error', reject);
      // 'close' comes after all output, which children of the program may hold open.
      this.#child.on('close', (code, signal) => resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr }));
    });
    showOnFailure({
      name: `halogrid ${args.join(' ')} (process ${this.pid})`,
      printed: () => this.#stdout + this.#stderr,
      end: () => this.#child.exitCode ?? this.#child.signalCode ?? undefined,
    });
    waitWithin('its end', this.ended, maxLifeMs).catch(() => this.kill());
    const line = new Promise<string>((resolve) => createInterface({ input: stdout! }).once('line', resolve));
    const without = this.ended.then(({ code, stderr: text }) => {
      throw new Error(`halogrid ${args.join(' ')} ended with ${code}: ${text}`);
    });
    this.firstLine = Promise.race([line, without]).then((text) => JSON.parse(text));
    this.firstLine.catch(() => {});
  }

  /** What it has written to stderr so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /**
   * Sends a signal to the launcher, or to the program that it became. The launcher passes on signals that ask to end.
   */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends all of its processes at once. */
  kill(): void {
    this.#child.kill('SIGKILL');
    for (const { pid } of this.processes()) killNow(pid);
  }

  /** Its living processes. */
  processes(): ProcessInfo[] {
    return processesWith(this.#mark);
  }

  /** Ids of its processes that run this command. */
  pidsOf(role: string): number[] {
    return this.processes().flatMap((found) => (found.role === role ? [found.pid] : []));
  }
}

/** Runs `halogrid ...args` to its end. */
export function halogrid(args: readonly string[], options?: HalogridOptions): Promise<Ended> {
  return new Halogrid(args, options).ended;
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended meanwhile.
  }
}

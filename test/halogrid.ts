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

/** In the environment of every process that this test file starts, and of what those start. */
const ofThisFile = `HALOGRID_TEST=${randomUUID()}`;

/** Nothing outlives its test file, whatever happened; and where nothing failed, nothing is there to be ended. */
process.once('exit', () => {
  for (const { pid, role } of processesWith(ofThisFile)) {
    console.error(`The ${role} with process id ${pid} was left running`);
    process.exitCode = 1;
    killNow(pid);
  }
});

/**
 * No program of a test takes this long, even on a slow machine: one that does is ended, and the test fails of that. A
 * cluster that is asked to bear many faults lives for all of them.
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
  /** Where relative paths begin (this process's folder). */
  cwd?: string;
  /** A process group of its own, as a shell would give it, for signals to all of it. */
  ownGroup?: boolean;
  /**
   * The launcher runs under a Node that cannot replace its process, as those before 22.15: it stays beside the program.
   */
  olderNode?: boolean;
  /** Started by npx in the checkout, as users do. npx and its shell stay beside the program. */
  npx?: boolean;
  /** A command that becomes the launcher, which is put behind its words. */
  within?: readonly string[];
  /** The launcher of an installed halogrid, in the place of the checkout's. */
  installed?: string;
  /** What the launcher becomes is started at once, which spares 35 ms of processor time; only without `olderNode`. */
  withoutLauncher?: boolean;
  /** For programs that are measured, not tested. */
  maxLifeMs?: number;
  /** Settings beside those of this process. */
  env?: Record<string, string>;
}

/** `halogrid ...args` as a child process, by its launcher, and whatever that starts. */
export class Halogrid {
  /** Id of the launcher's process, which becomes the program. */
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** The first line of stdout as JSON; rejects when the program ends without one. */
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
      // 'close' comes after the last of the output, which children of the program may hold open.
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

  /** Sends a signal to the launcher, or what it became; it passes on those that ask to end. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends all of its processes at once. */
  kill(): void {
    this.#child.kill('SIGKILL');
    for (const { pid } of this.processes()) killNow(pid);
  }

  /** Its processes that live now. */
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
    // It has ended in the meantime.
  }
}

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programLimitMs, within } from '@halogrid/testing';
import type { Ended } from './halogrid.ts';

const program = fileURLToPath(new URL('run-commands.ts', import.meta.url));

export interface Command {
  args: readonly string[];
  cwd: string;
}

/**
 * A process that runs commands one after another, because starting a process takes at least half a second of processor
 * time. For tests of what a command does, not of its process. It ends with the process of the test file; another one
 * takes its place when the environment has changed.
 */
class CommandProcess {
  #child: ChildProcess | undefined;
  /** The environment in which it was started, as JSON. */
  #environment = '';
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  /** Runs the command after all earlier ones. */
  run(args: readonly string[], cwd = process.cwd()): Promise<Ended> {
    this.#waiting++;
    // Counted down before the caller continues, because it may ask for the next command.
    const ended = this.#last
      .then(() => this.#run({ args, cwd }))
      .finally(() => {
        this.#waiting--;
      });
    this.#last = ended.catch(() => {});
    return ended;
  }

  async #run(command: Command): Promise<Ended> {
    const environment = JSON.stringify(process.env);
    if (this.#child?.connected !== true || this.#environment !== environment) {
      this.#child?.kill('SIGKILL');
      this.#child = start();
      this.#environment = environment;
    }
    const child = this.#child;
    child.ref();
    child.channel!.ref();
    const { promise, resolve, reject } = Promise.withResolvers<Ended>();
    const name = `halogrid ${command.args.join(' ')}`;
    const fail = (code: number | null, signal: string | null): void =>
      reject(new Error(`${name} ended its process with ${code ?? signal}`));
    child.once('exit', fail).once('message', (ended) => resolve(ended as Ended));
    child.send(command);
    try {
      return await within(`${name} to end`, promise, programLimitMs);
    } catch (error) {
      child.kill('SIGKILL');
      this.#child = undefined;
      throw error;
    } finally {
      child.off('exit', fail);
      child.unref();
      child.channel?.unref();
    }
  }
}

function start(): ChildProcess {
  // Without the test runner's variable, because it would make the program one of its tests.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  env.NODE_COMPILE_CACHE ??= join(env.XDG_CACHE_HOME!, 'halogrid', 'compiled');
  return fork(program, { env, execArgv: [] });
}

/** The process of this test file. */
export const commandProcess = new CommandProcess();

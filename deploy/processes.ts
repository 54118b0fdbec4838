import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { showOnFailure, within } from '@halogrid/testing';

/** Starts processes and stops them all; if a test fails, their output is shown. */
export class Processes {
  readonly #running: { name: string; child: ChildProcess }[] = [];

  start(name: string, file: string, args: string[]): void {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += data;
      });
    }
    child.on('error', (error) => {
      output += error;
    });
    this.#running.push({ name, child });
    showOnFailure({
      name: `${name} (process ${child.pid})`,
      printed: () => output,
      end: () => child.exitCode ?? child.signalCode ?? undefined,
    });
  }

  /** Names of the processes that have failed. */
  failed(): string[] {
    return this.#running.filter(({ child }) => child.exitCode || child.signalCode).map(({ name }) => name);
  }

  /**
   * Asks the processes to stop, the youngest first, and resolves with their exit codes (null: killed because it did not
   * end).
   */
  async stop(): Promise<Record<string, number | null>> {
    const codes: Record<string, number | null> = {};
    for (const { name, child } of this.#running.toReversed()) {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        await within(`${name} to end`, gone).catch(() => child.kill('SIGKILL'));
        await gone;
      }
      codes[name] = child.exitCode;
    }
    return codes;
  }
}

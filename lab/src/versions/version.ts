import { join } from 'node:path';
import { Halogrid, type HalogridOptions } from '../../../test/halogrid.ts';
import { scratchFolder } from '../../../test/scratch-folder.ts';

const anyPort = '127.0.0.1:0';
const nodes = 2;
const maxLifeMs = 24 * 3_600_000;

/** A checkout of halogrid, with a running coordinator and nodes of it. */
export class Version {
  readonly #options: HalogridOptions;
  readonly #programs: Halogrid[];
  readonly #coordinator: string;

  private constructor(options: HalogridOptions, programs: Halogrid[], coordinator: string) {
    this.#options = options;
    this.#programs = programs;
    this.#coordinator = coordinator;
  }

  static async start(checkout: string): Promise<Version> {
    const installed = join(checkout, 'apps/cli/bin/halogrid.mjs');
    const options = { within: [process.execPath], installed, maxLifeMs, cwd: checkout };
    const serve = ['--http', anyPort, '--log-level', 'error'];
    const ledger = join(scratchFolder(), 'ledger.sqlite');
    const coordinator = new Halogrid(['coordinator', '--ledger', ledger, '--listen', anyPort, ...serve], options);
    const { grpc } = await coordinator.firstLine;
    const address = `127.0.0.1:${grpc}`;
    const programs = Array.from({ length: nodes }, (_, i) => {
      const names = ['--coordinator', address, '--name', `n${i + 1}`, '--device', 'cpu'];
      return new Halogrid(['node', ...names, ...serve], options);
    });
    await Promise.all(programs.map((node) => node.firstLine));
    return new Version(options, [...programs, coordinator], address);
  }

  /** Runs a job to its end. Resolves with the exit code, and for a failure with the sentence on stderr. */
  async run(args: readonly string[]): Promise<string> {
    const run = new Halogrid(['run', ...args, '--quiet', '--coordinator', this.#coordinator], this.#options);
    const { code, stderr } = await run.ended;
    return code === 0 || code === 3 ? String(code) : `${code}: ${stderr.trim()}`;
  }

  async stop(): Promise<void> {
    for (const program of this.#programs) {
      program.signal('SIGTERM');
      await program.ended;
    }
  }
}

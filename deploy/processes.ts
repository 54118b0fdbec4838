import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Starts processes and stops them all; what they print is kept, to be shown where something fails. */
export class Processes {
  readonly #running: { name: string; child: ChildProcess; output: string[] }[] = [];

  start(name: string, file: string, args: string[]): void {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => output.push(String(data)));
    child.on('error', (error) => output.push(String(error)));
    this.#running.push({ name, child, output });
  }

  /** Names of the processes that failed already. */
  failed(): string[] {
    return this.#running.filter(({ child }) => child.exitCode || child.signalCode).map(({ name }) => name);
  }

  /** What every process printed. */
  output(): string {
    return this.#running.map(({ name, output }) => `--- ${name}\n${output.join('')}`).join('\n');
  }

  /** Asks the processes to stop, the youngest first, and resolves with their exit codes (null: killed after 10 s). */
  async stop(): Promise<Record<string, number | null>> {
    const codes: Record<string, number | null> = {};
    for (const { name, child } of this.#running.toReversed()) {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
        const kill = setTimeout(() => child.kill('SIGKILL'), 10_000);
        child.kill('SIGTERM');
        await once(child, 'exit');
        clearTimeout(kill);
      }
      codes[name] = child.exitCode;
    }
    return codes;
  }
}

/** A port of 127.0.0.1 that nobody listened on a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Tries `attempt` until it returns something other than undefined. Rejects after `timeoutMs` with its last error. */
export async function eventually<T>(
  what: string,
  attempt: () => Promise<T | undefined>,
  timeoutMs: number,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown = 'it never came';
  while (performance.now() < deadline) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`Waited ${timeoutMs} ms for ${what}: ${last}`);
}

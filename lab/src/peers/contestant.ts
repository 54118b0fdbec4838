import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import type { Cluster } from '../../../test/cluster.ts';
import { cpuSeconds } from '../../../test/process-list.ts';

/** Processes and threads that a peer may use: as many as the cpu device takes. */
export const workers = availableParallelism();

/** The LBP that a histogram counts. Histograms of one definition must be equal, bin by bin. */
export type Definition = 'square' | 'circle';

/** A program that computes LBP histograms of an input and leaves them on disk. */
export interface Contestant {
  name: string;
  definition: Definition;
  /** Whether it is halogrid, whose speed is compared with that of the peers. */
  isOurs: boolean;
  /** The program and its arguments. The path `result` does not exist yet. */
  command(input: string, result: string): string[];
  /** Processor seconds so far of processes that serve the program and started before it. */
  servingCpuSeconds?(): number;
  read(result: string, stdout: string): Promise<Outcome>;
}

export interface Outcome {
  /** Seconds by the program itself, without its start and its end. */
  innerSeconds: number;
  /** 256 counts for each image or frame, in the order of their names. */
  histograms: number[][];
}

const bins = 256;
const launcher = fileURLToPath(new URL('../../../apps/cli/bin/halogrid.mjs', import.meta.url));

/** `halogrid run` with its own coordinator and a node with the cpu device. */
export function halogrid(name: string, definition: Definition, options: readonly string[] = []): Contestant {
  return ours(name, definition, ['--device', 'cpu', ...options]);
}

/** `halogrid run` on a running cluster of this machine. */
export function halogridOn({ address, coordinator, nodes }: Cluster, options: readonly string[] = []): Contestant {
  const pids = [...coordinator.pidsOf('coordinator'), ...nodes.map(({ pid }) => pid)];
  return {
    ...ours('halogrid run, on a running cluster', 'square', ['--coordinator', address, ...options]),
    servingCpuSeconds: () => pids.reduce((sum, pid) => sum + (cpuSeconds(pid) ?? 0), 0),
  };
}

function ours(name: string, definition: Definition, options: readonly string[]): Contestant {
  return {
    name,
    definition,
    isOurs: true,
    command: (input, result) => [process.execPath, launcher, 'run', input, '--out', result, ...options],
    async read(result) {
      const job = JSON.parse(await readFile(join(result, 'job.json'), 'utf8'));
      const file = await asyncBufferFromFile(join(result, 'features.parquet'));
      const rows = (await parquetReadObjects({ file })) as { source: string; histogram: number[] }[];
      rows.sort((a, b) => (a.source < b.source ? -1 : 1));
      return { innerSeconds: job.wallSeconds, histograms: rows.map(({ histogram }) => [...histogram]) };
    },
  };
}

/** A Python program of this folder. It writes 64-bit counts to `result`, and its seconds to stdout. */
export function python(
  name: string,
  definition: Definition,
  script: string,
  argumentsFor: (input: string, result: string) => string[],
  interpreter: string,
): Contestant {
  return {
    name,
    definition,
    isOurs: false,
    command: (input, result) => [
      interpreter,
      fileURLToPath(new URL(script, import.meta.url)),
      ...argumentsFor(input, result),
    ],
    async read(result, stdout) {
      const bytes = await readFile(result);
      const counts = Array.from({ length: bytes.length / 8 }, (_, i) => Number(bytes.readBigInt64LE(8 * i)));
      return {
        innerSeconds: JSON.parse(stdout).seconds,
        histograms: Array.from({ length: counts.length / bins }, (_, i) => counts.slice(i * bins, (i + 1) * bins)),
      };
    },
  };
}

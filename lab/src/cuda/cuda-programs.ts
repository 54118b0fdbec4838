import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Fields that a row of a CUDA program must have; a list holds the allowed values. The fastest such row is meant. */
export type CudaQuery = Readonly<Record<string, string | number | readonly string[]>>;

/** A call of a program of lab/cuda. */
export interface CudaCall {
  program: string;
  arguments: Record<string, string | number>;
  /** The most registers of a thread, by `-maxrregcount`; the compiler chooses unless given. Its rows have it, too. */
  maxRegisters?: number;
  /** What the image in its argument `image` shows. Its rows have it, too. */
  content?: string;
}

/** Fields of rows of unusual calls. Only queries that name such a field find these rows. */
const ofUnusualCalls = ['maxRegisters', 'content'];

const run = promisify(execFile);
const sources = fileURLToPath(new URL('../../cuda', import.meta.url));

/** Enough for the rows of any program; one that prints more has gone wrong. */
const maxOutputBytes = 2 ** 26;

/** The CUDA programs, built into a folder of their own. */
export interface CudaPrograms {
  /** Rejects with one sentence if the program fails. */
  rows(call: CudaCall): Promise<CudaRow[]>;
  remove(): Promise<void>;
}

/** Programs to build. */
export interface CudaBuild {
  /** Paths without extension; all programs that are not in a folder unless given. */
  programs?: string[];
  /** More flags of nvcc; NVCC_FLAGS of the environment unless given. */
  flags?: string;
}

/** Builds programs of lab/cuda. Rejects with one sentence without nvcc, or if they do not compile. */
export async function buildCudaPrograms(
  nvcc = process.env.NVCC ?? 'nvcc',
  { programs = [], flags: given = process.env.NVCC_FLAGS ?? '' }: CudaBuild = {},
): Promise<CudaPrograms> {
  await run(nvcc, ['--version']).catch(() => {
    throw new Error(`there is no CUDA compiler ('${nvcc}')`);
  });
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-cuda-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  const build = async (into: string, programs: string[], flags = given) => {
    const env = { ...process.env, NVCC: nvcc, NVCC_FLAGS: flags };
    await run('sh', [join(sources, 'build.sh'), into, ...programs], { env }).catch((error) => {
      throw new Error(`the programs of lab/cuda cannot be built: ${lastLine(error)}`);
    });
  };
  try {
    await build(folder, programs);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    async rows(call) {
      const { maxRegisters, content } = call;
      const into = maxRegisters === undefined ? folder : join(folder, `registers-${maxRegisters}`);
      if (into !== folder) await build(into, [call.program], `-maxrregcount=${maxRegisters}`);
      return (await runCudaProgram(into, call)).map((row) => ({ ...row, maxRegisters, content }));
    },
    remove,
  };
}

/** Runs a built program. Rejects with one sentence if it fails. */
export async function runCudaProgram(folder: string, call: CudaCall): Promise<CudaRow[]> {
  const args = Object.entries(call.arguments).flatMap(([name, value]) => [`--${name}`, String(value)]);
  try {
    const { stdout } = await run(join(folder, call.program), args, { maxBuffer: maxOutputBytes });
    return parseCudaRows(stdout);
  } catch (error) {
    throw new Error(`the CUDA program '${call.program}' failed: ${lastLine(error)}`);
  }
}

/** The last line of a failed program, or what is known of its end. */
function lastLine(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  return (stderr?.trim() || message).split('\n').at(-1)!.replace(/\.$/, '');
}

/** A line of a CUDA program: the work and its time in milliseconds. */
export interface CudaRow {
  /** The strategy. */
  name: string;
  block: string | null;
  ms: { mean: number; median: number; stdev: number; min: number };
  repetitions: number;
  /** Other fields that tell rows apart, and rates. */
  [field: string]: unknown;
}

/** Reads what a program prints: a JSON object a line. Throws Error for anything else. */
export function parseCudaRows(output: string): CudaRow[] {
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      try {
        const row = JSON.parse(line) as CudaRow;
        if (typeof row.name === 'string' && Number.isFinite(row.ms?.mean)) return row;
      } catch {
        // Said below.
      }
      throw new Error(`Expected a row of a CUDA program but received '${line.slice(0, 80)}'`);
    });
}

/** The row with the least mean among those that `query` describes. */
export function fastestRow(rows: readonly CudaRow[], query: CudaQuery): CudaRow | undefined {
  const fits = (row: CudaRow) =>
    Object.entries(query).every(([key, wanted]) => [wanted].flat().some((value) => value === row[key])) &&
    ofUnusualCalls.every((field) => row[field] === undefined || field in query);
  return rows.filter(fits).sort((a, b) => a.ms.mean - b.ms.mean)[0];
}

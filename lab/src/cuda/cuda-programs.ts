import { execFile } from 'node:child_process';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What a row of a CUDA program must say to be meant, or one of what it may say; of several rows, the fastest is. */
export type CudaQuery = Readonly<Record<string, string | number | readonly string[]>>;

/** A call of a program of test/bench/cuda. */
export interface CudaCall {
  program: string;
  arguments: Record<string, string | number>;
  /** Registers of a thread at most, by `-maxrregcount`; the compiler's choice unless given. Its rows have it, too. */
  maxRegisters?: number;
  /** What the image of its argument `image` shows. Its rows have it, too. */
  content?: string;
}

/** Fields of the rows of calls that are unlike the others: only queries that name them mean such rows. */
const ofUnusualCalls = ['maxRegisters', 'content'];

const run = promisify(execFile);
const sources = fileURLToPath(new URL('../../cuda', import.meta.url));

/** Rows of all programs fit; a program that prints more has gone wrong. */
const maxOutputBytes = 2 ** 26;

/** The CUDA programs, built into a folder of their own. */
export interface CudaPrograms {
  /** Rejects with one sentence where the program fails. */
  rows(call: CudaCall): Promise<CudaRow[]>;
  remove(): Promise<void>;
}

/** Programs to build. */
export interface CudaBuild {
  /** By their paths; all but those in folders unless given. */
  programs?: string[];
  /** More flags of nvcc; those of the environment unless given. */
  flags?: string;
}

/** Builds programs of test/bench/cuda. Rejects with one sentence where they or nvcc are not there. */
export async function buildCudaPrograms(
  nvcc = process.env.NVCC ?? 'nvcc',
  { programs = [], flags: given = process.env.NVCC_FLAGS ?? '' }: CudaBuild = {},
): Promise<CudaPrograms> {
  await access(join(sources, 'build.sh')).catch(() => {
    throw new Error('the programs of test/bench/cuda are not part of this installation');
  });
  await run(nvcc, ['--version']).catch(() => {
    throw new Error(`there is no CUDA compiler ('${nvcc}')`);
  });
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-cuda-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  const build = async (into: string, programs: string[], flags = given) => {
    const env = { ...process.env, NVCC: nvcc, NVCC_FLAGS: flags };
    await run('sh', [join(sources, 'build.sh'), into, ...programs], { env }).catch((error) => {
      throw new Error(`the programs of test/bench/cuda cannot be built: ${lastLine(error)}`);
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

/** Runs a built program. Rejects with one sentence where it fails. */
export async function runCudaProgram(folder: string, call: CudaCall): Promise<CudaRow[]> {
  const args = Object.entries(call.arguments).flatMap(([name, value]) => [`--${name}`, String(value)]);
  try {
    const { stdout } = await run(join(folder, call.program), args, { maxBuffer: maxOutputBytes });
    return parseCudaRows(stdout);
  } catch (error) {
    throw new Error(`the CUDA program '${call.program}' failed: ${lastLine(error)}`);
  }
}

/** What a failed program said last, or else what is known of its end. */
function lastLine(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  return (stderr?.trim() || message).split('\n').at(-1)!.replace(/\.$/, '');
}

/** A line of a CUDA program: what was timed and, in milliseconds, what it took. */
export interface CudaRow {
  /** The strategy. */
  name: string;
  block: string | null;
  ms: { mean: number; median: number; stdev: number; min: number };
  repetitions: number;
  /** What else tells rows apart, and rates. */
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

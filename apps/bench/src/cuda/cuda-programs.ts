import { execFile } from 'node:child_process';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { CudaCall } from '../reports/report.ts';
import { type CudaRow, parseCudaRows } from './cuda-rows.ts';

const run = promisify(execFile);
const sources = fileURLToPath(new URL('../../../../test/bench/cuda', import.meta.url));

/** Rows of all programs fit; a program that prints more has gone wrong. */
const maxOutputBytes = 2 ** 26;

/** The CUDA programs, built into a folder of their own. */
export interface CudaPrograms {
  /** Rejects with one sentence where the program fails. */
  rows(call: CudaCall): Promise<CudaRow[]>;
  remove(): Promise<void>;
}

/** Builds the programs of test/bench/cuda. Rejects with one sentence where they or nvcc are not there. */
export async function buildCudaPrograms(nvcc = process.env.NVCC ?? 'nvcc'): Promise<CudaPrograms> {
  await access(join(sources, 'build.sh')).catch(() => {
    throw new Error('the programs of test/bench/cuda are not part of this installation');
  });
  await run(nvcc, ['--version']).catch(() => {
    throw new Error(`there is no CUDA compiler ('${nvcc}')`);
  });
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-cuda-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    await run('sh', [join(sources, 'build.sh'), folder], { env: { ...process.env, NVCC: nvcc } });
  } catch (error) {
    await remove();
    throw new Error(`the programs of test/bench/cuda cannot be built: ${lastLine(error)}`);
  }
  return { rows: (call) => runCudaProgram(folder, call), remove };
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

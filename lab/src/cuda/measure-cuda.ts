import type { CudaCall } from './cuda-programs.ts';
import { buildCudaPrograms, type CudaPrograms, type CudaRow } from './cuda-programs.ts';

/** Builds the CUDA programs for a device. If that fails, says why in one line and resolves with undefined. */
export async function openCuda(
  device: 'gpu' | 'software',
  note: (line: string) => void,
  build: () => Promise<CudaPrograms> = buildCudaPrograms,
): Promise<CudaPrograms | undefined> {
  return orNote(note, async () => {
    if (device === 'software') throw new Error('--device software is not for CUDA');
    return build();
  });
}

/** The rows of all calls. If a program fails, says why in one line and resolves with undefined. */
export async function cudaRows(
  programs: CudaPrograms,
  calls: readonly CudaCall[],
  note: (line: string) => void,
): Promise<CudaRow[] | undefined> {
  return orNote(note, async () => {
    const rows: CudaRow[] = [];
    for (const call of calls) rows.push(...(await programs.rows(call)));
    return rows;
  });
}

/** Builds the programs, makes the calls and removes the programs. */
export async function measureCuda(
  device: 'gpu' | 'software',
  calls: readonly CudaCall[],
  note: (line: string) => void,
): Promise<CudaRow[] | undefined> {
  const programs = await openCuda(device, note);
  if (!programs) return undefined;
  try {
    return await cudaRows(programs, calls, note);
  } finally {
    await programs.remove();
  }
}

async function orNote<T>(note: (line: string) => void, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    note(`CUDA is left out: ${(error as Error).message}.`);
    return undefined;
  }
}

import { buildCudaPrograms, type CudaPrograms } from '../cuda/cuda-programs.ts';

/** Frames that it gets in a call, as many as a node decodes at once. */
const batch = 64;

/** What nvJPEG does in comparison; to be removed. */
export interface Nvjpeg {
  /**
   * Frames a second to luma in the memory of the GPU, by its kernels and by the engines of the card where there are
   * any; none where it fails.
   */
  rates(folder: string): Promise<ReadonlyMap<string, number>>;
  remove(): Promise<void>;
}

/** Builds the program that measures nvJPEG; where that cannot be, says why in one line and resolves with undefined. */
export async function openNvjpeg(
  note: (line: string) => void,
  build: () => Promise<CudaPrograms> = () =>
    buildCudaPrograms(undefined, { programs: ['nvjpeg/nvjpeg-frames'], flags: '-lnvjpeg' }),
): Promise<Nvjpeg | undefined> {
  const leftOut = (error: Error): undefined => {
    note(`nvJPEG is left out: ${error.message}.`);
    return undefined;
  };
  const programs = await build().catch(leftOut);
  if (!programs) return undefined;
  return {
    async rates(folder) {
      const measuring = programs.rows({ program: 'nvjpeg-frames', arguments: { folder, batch } });
      const rows = (await measuring.catch(leftOut)) ?? [];
      return new Map(rows.map(({ name, ms }) => [name, (1000 * batch) / ms.median]));
    },
    remove: () => programs.remove(),
  };
}

import type { StartFrameCluster } from '@halogrid/bench/frame-cluster';
import { type BenchFramesOptions, benchFrames, type OtherDecoder } from '@halogrid/bench/frames';
import { buildCudaPrograms, type CudaPrograms } from './cuda-programs.ts';

/** Frames of a call: as many as a node decodes at once. */
const batch = 64;

/** Compares frames as `halogrid bench frames`; on a GPU, NVIDIA's nvJPEG decodes the JPEGs in turns. */
export async function benchFramesBesideNvjpeg(
  options: BenchFramesOptions,
  start: StartFrameCluster,
  note: (line: string) => void,
): Promise<string> {
  const isForGpu = options.format === 'jpg' && options.device === 'gpu';
  const nvjpeg = isForGpu ? await openNvjpeg(note) : undefined;
  try {
    return await benchFrames(options, start, note, nvjpeg);
  } finally {
    await nvjpeg?.remove();
  }
}

/**
 * The program that measures nvJPEG, which the caller removes. Its rates are frames a second from memory to luma in the
 * memory of the GPU: by kernels, and by the engines of the card if it has them. A run that fails has no rates.
 */
export interface Nvjpeg extends OtherDecoder {
  remove(): Promise<void>;
}

/** Builds the program that measures nvJPEG. If that fails, says why in one line and resolves with undefined. */
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

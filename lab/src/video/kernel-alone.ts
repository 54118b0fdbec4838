import { spreadOf } from '@halogrid/bench/statistics';
import type { Size } from '@halogrid/geometry';
import { measureWholeTimes } from '../timing/whole-times.ts';
import type { Measured } from './measured.ts';

const images = 128;
const lbp = { name: 'lbp', operations: [{ kernel: 'lbp', parameters: {} }], output: 'histogram' as const };

/** Times the default kernel on all threads of the cpu device, on pixels in memory. */
export async function measureKernel({ width, height }: Size): Promise<Measured> {
  const frameMs = async (clock: () => number): Promise<number> => {
    const options = { kind: 'cpu', size: { width, height }, cases: [lbp], repetitions: 3 } as const;
    const { rows } = await measureWholeTimes({ ...options, imagesPerSample: images, clock });
    return spreadOf(rows[0]!.samplesMs).median / images;
  };
  const rate = 1000 / (await frameMs(() => performance.now()));
  return { rate, coresMs: await frameMs(ownMs) };
}

/** Milliseconds of processor time of this process. */
function ownMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

import { measureKernelTimes } from '@halogrid/gpu-node/bench';
import { table } from '../summary/table.ts';
import { spreadOf } from './statistics.ts';

export interface BenchKernelsOptions {
  device: 'gpu' | 'software';
  width: number;
  height: number;
  repetitions: number;
}

/** Times the kernels by the device's own clock. Returns the table. */
export async function benchKernels({ device, width, height, repetitions }: BenchKernelsOptions): Promise<string> {
  const { device: name, rows } = await measureKernelTimes({
    kind: device,
    size: { width, height },
    repetitions,
    // A hundred runs between two timestamps; SwiftShader takes a second for a few.
    runsPerSample: device === 'gpu' ? 100 : 1,
  });
  return table([
    [`${name}, ${width} x ${height}, ${repetitions} repetitions`, 'median ms', 'min ms', 'max ms', 'Gpx/s'],
    ...rows.map(({ name, samplesMs }) => {
      const { median, min, max } = spreadOf(samplesMs);
      return [name, ...[median, min, max].map((ms) => ms.toFixed(4)), ((width * height) / median / 1e6).toFixed(1)];
    }),
  ]);
}

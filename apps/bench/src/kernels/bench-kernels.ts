import type { Size } from '@halogrid/geometry';
import { table } from '@halogrid/service/text-table';
import { drawGrayScene } from '../images/draw-scene.ts';
import type { KernelCase } from '../timing/kernel-case.ts';
import { spreadOf } from '../timing/statistics.ts';
import { type KernelTime, measureKernelTimes } from '../timing/time-strategies.ts';
import { kernelSuite } from './kernel-suite.ts';

export interface BenchKernelsOptions {
  device: 'gpu' | 'software';
  width: number;
  height: number;
  repetitions: number;
}

/** What the cases of `kernelSuite` took, in its order, each on an image of this size. */
export interface SuiteTimes {
  /** The device, the size and the repetitions. */
  title: string;
  size: Size;
  times: readonly KernelTime[];
}

/** Columns to the right of the others. */
export interface MoreColumns {
  headings: readonly string[];
  /** Texts of the row of a case whose median is `medianMs`, one for each heading. */
  cellsOf(one: KernelCase, medianMs: number): string[];
}

/** Times the kernels by the device's own clock. Returns the table. */
export async function benchKernels(options: BenchKernelsOptions): Promise<string> {
  return kernelTable(await measureSuite(options));
}

/** Times every case of `kernelSuite` by the device's own clock. Rejects with UsageError without such a device. */
export async function measureSuite({
  device: kind,
  width,
  height,
  repetitions,
}: BenchKernelsOptions): Promise<SuiteTimes> {
  const size = { width, height };
  const { device, rows } = await measureKernelTimes({
    kind,
    size,
    photo: drawGrayScene(size),
    cases: kernelSuite,
    repetitions,
    // A hundred runs between two timestamps; SwiftShader takes a second for a few.
    runsPerSample: kind === 'gpu' ? 100 : 1,
  });
  return { title: `${device}, ${width} x ${height}, ${repetitions} repetitions`, size, times: rows };
}

/** A row of times for every case, and what `more` says beside them. */
export function kernelTable({ title, size, times }: SuiteTimes, more?: MoreColumns): string {
  const pixels = size.width * size.height;
  const rows = times.map(({ name, samplesMs }, i) => {
    const { median, min, max } = spreadOf(samplesMs);
    return [
      name,
      ...[median, min, max].map((ms) => ms.toFixed(4)),
      String(Number((pixels / median / 1e6).toPrecision(3))),
      ...(more?.cellsOf(kernelSuite[i]!, median) ?? []),
    ];
  });
  return table([[title, 'median ms', 'min ms', 'max ms', 'Gpx/s', ...(more?.headings ?? [])], ...rows]);
}

import { warmUps } from '@halogrid/bench/take-samples';
import { type Method, probeKey, type ReportTable, type TimedWork } from './report.ts';
import { type Bench, runsOf, timeProbes } from './time-probes.ts';

export interface MeasureOptions {
  bench: Bench;
  method: Method;
  /** A cell is left out if not even one of its samples fits into this time. */
  cellMs: number;
  note(line: string): void;
}

/** Side of the image that estimates times of larger ones. Images up to this size are measured without an estimate. */
const estimateSide = 256;

/** Measures the probes of a table that `samples` lacks, and adds their samples. */
export async function measureTable(
  { rows }: ReportTable,
  samples: Map<string, number[]>,
  options: MeasureOptions,
): Promise<void> {
  const probes = new Map<string, TimedWork>();
  for (const probe of rows.flatMap(({ times }) => Object.values(times))) {
    if (!samples.has(probeKey(probe))) probes.set(probeKey(probe), probe);
  }
  const estimates = await estimate([...probes.values()], options);
  for (const { probes: together, method } of planned([...probes.values()], estimates, options)) {
    const measured = await measureTogether(together, method, options);
    together.forEach((probe, i) => {
      if (measured[i]) samples.set(probeKey(probe), measured[i]);
    });
  }
}

/** Whether a probe may be too slow for a cell: everything but a real GPU may. */
const maybeSlow = ({ timer }: TimedWork, { device }: Bench): boolean =>
  device === 'software' || timer === 'cpu' || timer === 'threads' || timer === 'twin';

const pixelsOf = ({ size }: TimedWork): number => size.width * size.height;

/** The same work on a small image, with a timer that takes at least as long a pixel. */
function smallProbe({ timer, operations, output, strategy, grid, size }: TimedWork): TimedWork {
  const slower = timer === 'threads' ? 'cpu' : timer === 'batch' ? 'whole' : timer;
  const cells = grid && {
    rows: Math.ceil((grid.rows * estimateSide) / size.height),
    columns: Math.ceil((grid.columns * estimateSide) / size.width),
  };
  const small = { width: estimateSide, height: estimateSide };
  return { timer: slower, operations, output, strategy, grid: cells, size: small };
}

/** Milliseconds a pixel of probes that may be too slow, by the keys of their small probes. */
async function estimate(probes: readonly TimedWork[], options: MeasureOptions): Promise<Map<string, number>> {
  const small = new Map<string, TimedWork>();
  for (const probe of probes) {
    if (!maybeSlow(probe, options.bench) || pixelsOf(probe) <= estimateSide ** 2) continue;
    small.set(probeKey(smallProbe(probe)), smallProbe(probe));
  }
  const msAPixel = new Map<string, number>();
  for (const together of grouped([...small.values()], ({ timer }) => timer)) {
    const measured = await measureTogether(together, { images: 1, repetitions: 2 }, options);
    together.forEach((probe, i) => {
      if (measured[i]) msAPixel.set(probeKey(probe), Math.min(...measured[i]) / estimateSide ** 2);
    });
  }
  return msAPixel;
}

/**
 * Groups of probes that are measured in one go, and how often. Notes the probes that are too slow, and leaves them out.
 */
function planned(
  probes: readonly TimedWork[],
  estimates: ReadonlyMap<string, number>,
  { bench, method, cellMs, note }: MeasureOptions,
): { probes: TimedWork[]; method: Method }[] {
  const fits: { probe: TimedWork; method: Method }[] = [];
  for (const probe of probes) {
    const msAPixel = estimates.get(probeKey(smallProbe(probe)));
    const isKnown = msAPixel !== undefined && pixelsOf(probe) > estimateSide ** 2;
    const sampleMs = isKnown ? msAPixel * pixelsOf(probe) * (probe.images ?? 1) : undefined;
    const fitted = fitMethod(method, sampleMs, cellMs);
    if (fitted) fits.push({ probe, method: fitted });
    else note(`${described(probe)} would take about ${(sampleMs! / 1000).toPrecision(2)} s a sample: left out`);
  }
  const together = grouped(fits, ({ probe, method }) =>
    JSON.stringify([probe.timer, probe.images, runsOf(probe, bench), method]),
  );
  return together.map((group) => ({ probes: group.map(({ probe }) => probe), method: group[0]!.method }));
}

/** Measures probes in one go. If that fails, measures them one by one; a probe that fails is noted, and undefined. */
async function measureTogether(
  probes: readonly TimedWork[],
  method: Method,
  { bench, cellMs, note }: MeasureOptions,
): Promise<(number[] | undefined)[]> {
  try {
    return await timeProbes(probes, method, cellMs, bench);
  } catch {
    const measured: (number[] | undefined)[] = [];
    for (const probe of probes) {
      try {
        measured.push((await timeProbes([probe], method, cellMs, bench))[0]);
      } catch (error) {
        note(`${described(probe)} cannot be measured: ${(error as Error).message}`);
        measured.push(undefined);
      }
    }
    return measured;
  }
}

function described({ timer, operations, size }: TimedWork): string {
  const kernels = operations.map(({ kernel, parameters }) => [kernel, ...Object.values(parameters)].join(' '));
  return `${kernels.join(' > ')} of ${size.width}x${size.height} (${timer})`;
}

function grouped<T>(values: readonly T[], keyOf: (value: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return [...groups.values()];
}

/**
 * The method with as many images as fit into `cellMs` if a sample takes about `estimateMs`. Each image has its own
 * warm-ups and at least one sample; a single image needs room for one sample only. Undefined if no sample fits. Without
 * an estimate all images are measured.
 */
export function fitMethod(method: Method, estimateMs: number | undefined, cellMs: number): Method | undefined {
  if (estimateMs === undefined) return method;
  const runs = Math.floor(cellMs / estimateMs);
  if (runs < 1) return undefined;
  return { ...method, images: Math.max(1, Math.min(method.images, Math.floor(runs / (warmUps + 1)))) };
}

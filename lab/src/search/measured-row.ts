import { spreadOf } from '@halogrid/bench/statistics';

/** Seconds of one run. */
export interface Times {
  wall: number;
  /** Processor time of all threads. */
  processor?: number;
  /** By the clock of a GPU, of the pass that reads all histograms. */
  device?: number;
}

export async function seconds(act: () => Promise<unknown>): Promise<Times> {
  const [start, used] = [performance.now(), process.cpuUsage()];
  await act();
  const { user, system } = process.cpuUsage(used);
  return { wall: (performance.now() - start) / 1000, processor: (user + system) / 1e6 };
}

/** A row of the table: the spread of wall times, and the medians of the others. */
export function row(name: string, times: readonly Times[]): string[] {
  const { median, min, max } = spreadOf(times.map(({ wall }) => wall));
  return [name, median, min, max, medianOf(times, 'processor'), medianOf(times, 'device')].map((cell) =>
    typeof cell === 'string' ? cell : inUnit(cell),
  );
}

function medianOf(times: readonly Times[], of: 'processor' | 'device'): number | string {
  const known = times.flatMap((time) => time[of] ?? []);
  return known.length > 0 ? spreadOf(known).median : '';
}

const inUnit = (time: number): string => (time < 0.1 ? `${(1000 * time).toFixed(2)} ms` : `${time.toFixed(3)} s`);

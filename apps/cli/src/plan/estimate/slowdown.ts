/** How many times longer other programs make everything. */

/** The total times of the cores that this process may use, in ticks of the system's clock. */
export interface CoreTimes {
  cores: number;
  busy: number;
  /** Busy and idle. */
  all: number;
}

/**
 * How many times longer everything takes if `others` threads share `cores` cores with `ownCores` busy threads of ours,
 * and each thread gets an equal share. At least 1.
 */
export const slowdownBy = (others: number, ownCores: number, cores: number): number =>
  Math.max(1, (others + ownCores) / cores);

/**
 * How many threads of other programs want these cores, on average between two looks, if `ownThreads` of ours computed
 * meanwhile. `own` has the nanoseconds in which a thread of ours computed, and in which it waited for a core. If it
 * waited as long as it computed, it shared its core with one other thread, and the other busy cores were shared by as
 * many. At most `load`, the load of the machine in the last minute, because a burst is soon over.
 */
export function othersOn(
  [before, after]: readonly [CoreTimes, CoreTimes],
  own: { ran: number; waited: number },
  ownThreads: number,
  load: number,
): number {
  const all = after.all - before.all;
  if (all <= 0 || own.ran <= 0) return 0;
  const busyCores = (after.cores * (after.busy - before.busy)) / all;
  const wouldCompute = busyCores * (1 + own.waited / own.ran);
  return Math.max(0, Math.min(wouldCompute - ownThreads, load));
}

/** The numbers in a list of Linux: `0-3,8`. */
export function coresIn(list: string): Set<number> {
  const ranges = list.split(',').map((range) => range.split('-').map(Number));
  return new Set(
    ranges.flatMap(([first, last = first]) => Array.from({ length: last! - first! + 1 }, (_, i) => first! + i)),
  );
}

/** The times of these cores in the text of `/proc/stat`. */
export function coreTimes(text: string, cores: ReadonlySet<number>): CoreTimes {
  const times = { cores: 0, busy: 0, all: 0 };
  for (const [, core, line] of text.matchAll(/^cpu(\d+) (.*)$/gm)) {
    if (!cores.has(Number(core))) continue;
    // The last two of ten numbers, for guests, are part of the user's time. The fourth and the fifth are idle times.
    const ticks = line!.split(' ').slice(0, 8).map(Number);
    const all = ticks.reduce((sum, each) => sum + each, 0);
    times.cores++;
    times.busy += all - ticks[3]! - ticks[4]!;
    times.all += all;
  }
  return times;
}

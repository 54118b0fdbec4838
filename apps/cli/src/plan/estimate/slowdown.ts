/** How many times longer other programs make everything. */

/** The total times of the cores that this process may use, in ticks of the system's clock. */
export interface CoreTimes {
  cores: number;
  busy: number;
  /** Busy and idle. */
  all: number;
}

/** Nanoseconds in which a thread computed, and in which it waited for a core. */
export interface ThreadTimes {
  ran: number;
  waited: number;
}

/**
 * How many times longer everything takes if `others` threads share `cores` cores with `ownCores` busy threads of ours,
 * and each thread gets an equal share. At least 1.
 */
export const slowdownBy = (others: number, ownCores: number, cores: number): number =>
  Math.max(1, (others + ownCores) / cores);

/**
 * How many threads of other programs want these cores, on average between two looks. A thread of ours that waited as
 * long as it computed shared its core with one other thread, so the busy cores have as many threads in line. At most
 * `load`, the load of the machine in the last minute, because a burst is soon over. `ownThreads` of ours computed in
 * that time.
 */
export function othersOn(
  [before, after]: readonly [CoreTimes, CoreTimes],
  own: ThreadTimes,
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
  const cores = new Set<number>();
  for (const range of list.split(',')) {
    const [first, last] = range.split('-').map(Number);
    for (let core = first!; core <= (last ?? first!); core++) cores.add(core);
  }
  return cores;
}

/** The times of these cores in the text of `/proc/stat`. */
export function coreTimes(text: string, cores: ReadonlySet<number>): CoreTimes {
  const times = { cores: 0, busy: 0, all: 0 };
  for (const [, core, line] of text.matchAll(/^cpu(\d+) (.*)$/gm)) {
    if (!cores.has(Number(core))) continue;
    // The last two numbers, for guests, are part of the user's time.
    const [user = 0, nice = 0, system = 0, idle = 0, ioWait = 0, ...rest] = line!.split(' ').slice(0, 8).map(Number);
    const busy = user + nice + system + rest.reduce((sum, ticks) => sum + ticks, 0);
    times.cores++;
    times.busy += busy;
    times.all += busy + idle + ioWait;
  }
  return times;
}

/** How much longer everything takes for what else the cores do. */

/** Times of the cores that this process may use, together, in ticks of the system's clock. */
export interface CoreTimes {
  cores: number;
  busy: number;
  /** Busy or not. */
  all: number;
}

/** Nanoseconds that a thread computed, and that it waited for a core. */
export interface ThreadTimes {
  ran: number;
  waited: number;
}

/**
 * How much longer everything takes where `others` threads that would compute share `cores` with `ownCores` of ours,
 * each of which gets as much as any. At least 1.
 */
export const slowdownBy = (others: number, ownCores: number, cores: number): number =>
  Math.max(1, (others + ownCores) / cores);

/**
 * How many threads of others would compute on these cores, on average between two looks. A thread of ours that waited
 * as long as it computed had one other thread before it, so all that compute on a core that is busy have as many behind
 * them. Not more than `load`, the machine's of the last minute: a burst is over soon. `ownThreads` are ours that
 * computed meanwhile.
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

/** Numbers of a list as Linux writes it: `0-3,8`. */
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
    // What guests took is in the user's time as well.
    const [user = 0, nice = 0, system = 0, idle = 0, ioWait = 0, ...rest] = line!.split(' ').slice(0, 8).map(Number);
    const busy = user + nice + system + rest.reduce((sum, ticks) => sum + ticks, 0);
    times.cores++;
    times.busy += busy;
    times.all += busy + idle + ioWait;
  }
  return times;
}

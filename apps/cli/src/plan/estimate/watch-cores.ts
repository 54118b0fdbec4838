import { readFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type CoreTimes, coresIn, coreTimes, othersOn, slowdownBy, type ThreadTimes } from './slowdown.ts';

/** A plan takes at least as long, and the clock of the cores ticks twenty times in it. */
const watchMs = 200;

/**
 * How many times longer other programs make everything now. It follows from the cores that this process may use, and
 * from how long its main thread, which computes while a command starts, has waited for a core. `ownThreads` compute
 * meanwhile. 1 on other systems than Linux.
 */
export async function slowdownNow(ownThreads: number): Promise<number> {
  try {
    const allowed = coresIn(/^Cpus_allowed_list:\s*(\S+)$/m.exec(await readFile('/proc/self/status', 'utf8'))![1]!);
    const look = async (): Promise<CoreTimes> => coreTimes(await readFile('/proc/stat', 'utf8'), allowed);
    const before = await look();
    await delay(watchMs);
    const after = await look();
    const others = othersOn([before, after], await mainThreadTimes(), ownThreads, loadavg()[0]!);
    return slowdownBy(others, Math.min(availableParallelism(), after.cores), after.cores);
  } catch {
    return 1;
  }
}

/** The times of the main thread since this process began. */
async function mainThreadTimes(): Promise<ThreadTimes> {
  const [ran, waited] = (await readFile('/proc/self/schedstat', 'utf8')).split(' ').map(Number);
  return { ran: ran!, waited: waited! };
}

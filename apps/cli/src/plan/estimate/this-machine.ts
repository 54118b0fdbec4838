import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { coresHere } from '@halogrid/threads/limits';
import type { DeviceChoice } from '../../options/option-values.ts';
import type { CostDevice } from './kernel-costs.ts';
import type { KeptRun } from './run-records.ts';
import { type CoreTimes, coresIn, coreTimes, othersOn, slowdownBy } from './slowdown.ts';

/** The kind of this machine. It is equal in all containers of one machine, so that they share their runs. */
export const thisMachine = (): string => `${cpus()[0]?.model.trim() || process.arch}, ${cpus().length} cores`;

/** Files of drivers of GPUs, on Linux. */
const gpuFiles = ['/dev/nvidiactl', '/dev/dri/renderD128'];

/** The device that a node would probably choose. Testing devices would take longer than a plan. */
export function expectedDevice(
  choice: DeviceChoice,
  runs: readonly Pick<KeptRun, 'device' | 'isChosen'>[],
  hasGpuFile = () => gpuFiles.some((file) => existsSync(file)),
): CostDevice {
  if (choice !== 'auto') return choice;
  return runs.findLast((run) => run.isChosen)?.device ?? (hasGpuFile() ? 'gpu' : 'cpu');
}

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
    const [ran, waited] = (await readFile('/proc/self/schedstat', 'utf8')).split(' ').map(Number);
    const others = othersOn([before, after], { ran: ran!, waited: waited! }, ownThreads, loadavg()[0]!);
    return slowdownBy(others, Math.min(coresHere(), after.cores), after.cores);
  } catch {
    return 1;
  }
}

import { existsSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import type { DeviceChoice } from '../../options/option-values.ts';
import type { CostDevice } from './kernel-costs.ts';
import type { KeptRun } from './run-records.ts';

/** Cores that this process and its children may use. */
export const coresHere = (): number => availableParallelism();

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

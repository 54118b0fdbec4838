import { existsSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import type { DeviceChoice } from '../../options/option-values.ts';
import type { CostDevice } from './kernel-costs.ts';
import type { KeptRun } from './run-records.ts';

/** Cores that processes of this one may use. */
export const coresHere = (): number => availableParallelism();

/** Equal for machines of one kind, so that containers that come and go remember together. */
export const thisMachine = (): string => `${cpus()[0]?.model.trim() || process.arch}, ${cpus().length} cores`;

/** Files of drivers of GPUs, on Linux. */
const gpuFiles = ['/dev/nvidiactl', '/dev/dri/renderD128'];

/** The device that a node would take: trying it would take longer than a plan. */
export function expectedDevice(
  choice: DeviceChoice,
  runs: readonly Pick<KeptRun, 'device' | 'isChosen'>[],
  hasGpuFile = () => gpuFiles.some((file) => existsSync(file)),
): CostDevice {
  if (choice !== 'auto') return choice;
  return runs.findLast((run) => run.isChosen)?.device ?? (hasGpuFile() ? 'gpu' : 'cpu');
}

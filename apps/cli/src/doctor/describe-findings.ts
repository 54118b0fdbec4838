import { devicePath, type GpuInventory, type NvidiaGpu } from '@halogrid/gpu-node/gpus';
import { table } from '@halogrid/service/text-table';
import { describeSeconds } from '../progress/quantities.ts';
import type { Machine } from './machine.ts';
import type { Probe } from './probe.ts';

export interface Findings {
  versions: Record<string, string>;
  machine: Machine;
  /** NVIDIA's cards; none where its driver is not there. */
  gpus: GpuInventory;
  /** By what was asked for: gpu, software, cpu, auto. */
  devices: Record<string, Probe>;
}

/** What a person reads of `halogrid doctor`. */
export function describeFindings({ versions, machine, gpus, devices }: Findings): string {
  const gigabytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  const memory = `${gigabytes(machine.memoryBytes)} of memory, ${gigabytes(machine.freeBytes)} free`;
  const threads =
    machine.poolThreads ?? "4, libuv's default: start halogrid by its launcher, or set UV_THREADPOOL_SIZE";
  return table([
    [
      'versions',
      Object.entries(versions)
        .map((pair) => pair.join(' '))
        .join(', '),
    ],
    ['machine', `${machine.platform}, ${machine.cores} cores, ${memory}`],
    ['threads', `${threads} for reading and decoding`],
    ...gpus.visible.map((gpu, index) => [`GPU ${index}`, describeGpu(gpu)]),
    ...gpus.hidden.map((gpu) => ['GPU', `${describeGpu(gpu)}; this process may not open it`]),
    ...Object.entries(devices).map(([choice, probe]) => [choice, describeProbe(choice, probe)]),
  ]);
}

function describeGpu({ model, uuid, busId, minor }: NvidiaGpu): string {
  return [model, uuid ?? 'its UUID is known once it was opened', busId, devicePath({ minor })].join(', ');
}

function describeProbe(choice: string, probe: Probe): string {
  if (!probe.works) return `no: ${probe.reason.replace(/^The device '\w+' is not available: /, '')}`;
  const { kind, name, driver } = probe.device;
  if (choice === 'auto') return `takes ${kind}: ${probe.why}`;
  return `works: ${driver ? `${name}, ${driver}` : name}; ready in ${describeSeconds(probe.openSeconds)}, LBP equal to the CPU twin`;
}

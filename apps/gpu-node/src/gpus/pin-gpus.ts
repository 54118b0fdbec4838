import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { poolThreads } from '@halogrid/threads/pool-threads';
import type { ChosenGpu, GpuInventory } from './inventory.ts';
import { chooseIsolation, isolationPrefix } from './isolation.ts';
import { readIsolationFacts } from './machine-gpus.ts';
import { devicePath } from './nvidia-gpu.ts';

/** How to start a process that sees one card alone; needed because WebGPU cannot choose among equal cards. */
export interface GpuPin extends ChosenGpu {
  /** Words to put before its command; none if the process sees no other card anyway. */
  prefix: string[];
}

/**
 * How to start a process on each of the chosen cards. Rejects with one sentence if the system does not permit
 * isolation, which is tried and not guessed.
 */
export async function pinGpus(
  chosen: readonly ChosenGpu[],
  { visible }: GpuInventory,
  pathOf: typeof devicePath = devicePath,
): Promise<GpuPin[]> {
  if (visible.length === 1) return chosen.map((each) => ({ ...each, prefix: [] }));
  const isolation = chooseIsolation(await readIsolationFacts());
  if (isolation.kind === 'refused') throw cannotIsolate(isolation.reason);
  const pins = chosen.map((each) => {
    const others = visible.filter(({ busId }) => busId !== each.gpu.busId);
    return { ...each, prefix: isolationPrefix(isolation, others.map(pathOf)) };
  });
  await Promise.all(pins.map(({ prefix }) => tryPrefix(prefix)));
  return pins;
}

async function tryPrefix([program, ...words]: string[]): Promise<void> {
  try {
    await promisify(execFile)(program!, [...words, 'true']);
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    throw cannotIsolate(stderr.trim().split('\n')[0] || message);
  }
}

function cannotIsolate(reason: string): Error {
  return new Error(
    `GPUs cannot be kept apart here: ${reason}; run a container a GPU instead (NVIDIA_VISIBLE_DEVICES, or device_ids of Compose)`,
  );
}

/**
 * Threads for each of `nodes` nodes that share a machine's cores. Measured on 16 cores with 1080p JPEGs: four nodes of
 * 16 threads each decode less than one node does.
 */
export function threadsEach(nodes: number, threads = poolThreads()): number {
  return Math.max(Math.min(4, threads), Math.ceil(threads / nodes));
}

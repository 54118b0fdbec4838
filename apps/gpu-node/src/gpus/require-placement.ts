import { findGpus, heldGpuMinors } from './machine-gpus.ts';
import type { NvidiaGpu } from './nvidia-gpu.ts';
import { readSmi } from './nvidia-smi.ts';
import { provePlacement } from './prove-placement.ts';

/**
 * Proves that each process sits on the card it was meant for and no two on one, once their devices are open; returns a
 * line of evidence for each. Rejects with one sentence where that is not so or cannot be seen.
 */
export async function requirePlacement(meant: readonly { busId: string; pid: number }[]): Promise<string[]> {
  // Read again: a card has a UUID only once it was opened.
  const inventory = await findGpus();
  const gpus = inventory ? [...inventory.visible, ...inventory.hidden] : [];
  const placements = meant.map(async ({ busId, pid }) => ({ busId, pid, heldMinors: await heldGpuMinors(pid) }));
  const verdict = provePlacement(await Promise.all(placements), gpus, await readSmi());
  if (verdict.kind === 'proven') return verdict.evidence;
  throw new Error(`It cannot be proven that each node has a GPU of its own: ${verdict.reason}`);
}

/** The one card that this process has open; undefined where it holds none or several. */
export async function openGpu(): Promise<NvidiaGpu | undefined> {
  const inventory = await findGpus();
  const [held, ...others] = inventory ? await heldGpuMinors(process.pid) : [];
  if (!inventory || others.length > 0) return undefined;
  return [...inventory.visible, ...inventory.hidden].find(({ minor }) => minor === held);
}

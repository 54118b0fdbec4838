import { cardByUuid } from './assigned-gpus.ts';
import type { ChosenGpu, GpuInventory } from './inventory.ts';
import type { NvidiaGpu } from './nvidia-gpu.ts';

/**
 * A value of --gpu: the cards that the environment assigns, every card, the one with this index, as nvidia-smi numbers
 * the cards that it sees here, or the one with this UUID.
 */
export type GpuChoice = 'auto' | 'all' | number | { uuid: string };

/** Undefined for text that is not such a value. */
export function parseGpuChoice(text: string): GpuChoice | undefined {
  if (text === 'auto' || text === 'all') return text;
  if (/^GPU-[0-9a-f-]{4,}$/i.test(text)) return { uuid: text };
  return /^\d{1,3}$/.test(text) ? Number(text) : undefined;
}

/** The chosen cards, at least one. Throws Error with one sentence if they are not there. */
export function chooseGpus(choice: Exclude<GpuChoice, 'auto'>, inventory: GpuInventory | undefined): ChosenGpu[] {
  const visible = requireGpus(inventory).map((gpu, index) => ({ index, gpu }));
  if (choice === 'all') return visible;
  const wanted = typeof choice === 'number' ? visible[choice]?.gpu : cardByUuid(choice.uuid, inventory!);
  const chosen = visible.find(({ gpu }) => gpu === wanted);
  if (chosen) return [chosen];
  throw new Error(
    `There is no GPU ${typeof choice === 'number' ? choice : choice.uuid} here: this process sees ${countGpus(visible.length)}${unseen(inventory!)}`,
  );
}

/** The first `count` cards. Throws Error with one sentence if there are fewer. */
export function firstGpus(count: number, inventory: GpuInventory | undefined): ChosenGpu[] {
  const visible = requireGpus(inventory);
  if (visible.length >= count) return visible.slice(0, count).map((gpu, index) => ({ index, gpu }));
  throw new Error(
    `Expected ${countGpus(count)} but this process sees ${countGpus(visible.length)}${unseen(inventory!)}`,
  );
}

function requireGpus(inventory: GpuInventory | undefined): NvidiaGpu[] {
  if (!inventory) throw new Error('There is no NVIDIA driver here (/proc/driver/nvidia/gpus is not there)');
  if (inventory.visible.length > 0) return inventory.visible;
  const what = inventory.hidden.length > 0 ? 'this process sees no GPU' : "NVIDIA's driver lists no GPU";
  throw new Error(`There is no GPU to take: ${what}${unseen(inventory)}`);
}

function unseen({ hidden }: GpuInventory): string {
  return hidden.length === 0 ? '' : `; ${countGpus(hidden.length)} of the machine cannot be opened here`;
}

const countGpus = (count: number): string => `${count === 0 ? 'no' : count} GPU${count === 1 ? '' : 's'}`;

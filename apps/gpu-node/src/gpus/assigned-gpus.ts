import type { ChosenGpu, GpuInventory } from './inventory.ts';
import type { NvidiaGpu } from './nvidia-gpu.ts';

/** The cards that a variable of the environment assigns to this process. */
export interface AssignedGpus {
  /** The variable and its value, such as `CUDA_VISIBLE_DEVICES=0,1`. */
  setting: string;
  /** Empty: the process may use no card. */
  gpus: ChosenGpu[];
}

type Env = Readonly<Record<string, string | undefined>>;

/** What the number N stands for in a variable. */
type Numbering = (inventory: GpuInventory, n: number) => NvidiaGpu | undefined;

/** As nvidia-smi and CUDA count: the cards that this process can open, by PCI address. */
const amongVisible: Numbering = ({ visible }, n) => visible[n];
/** As Slurm counts, whatever a task can open: N of /dev/nvidiaN. */
const byDeviceFile: Numbering = (inventory, n) => allOf(inventory).find(({ minor }) => minor === n);
/** As nvidia-smi counts outside of the container: all cards of the machine, by PCI address. */
const amongAll: Numbering = (inventory, n) => allOf(inventory)[n];

/** The variable by which containers get their cards. */
const containers = 'NVIDIA_VISIBLE_DEVICES';

/** Variables that assign cards, the one that decides first. */
const variables: readonly [name: string, numbering: Numbering][] = [
  ['CUDA_VISIBLE_DEVICES', amongVisible],
  ['SLURM_STEP_GPUS', byDeviceFile],
  ['SLURM_JOB_GPUS', byDeviceFile],
  [containers, amongAll],
];

/** Values of NVIDIA_VISIBLE_DEVICES that name no card. The container has the cards that it has. */
const unrestricted = new Set(['all', 'void']);
/** Values for no card; the last one is of older versions of Slurm. */
const noCard = new Set(['', 'none', 'NoDevFiles']);

/** Whether the environment says anything about cards. */
export const mentionsGpus = (env: Env): boolean => variables.some(([name]) => env[name] !== undefined);

/**
 * The cards that the environment assigns to this process; undefined if it restricts nothing. Throws Error with one
 * sentence if it assigns a card that this process cannot open, or a part of a card (MIG).
 */
export function assignedGpus(env: Env, inventory: GpuInventory): AssignedGpus | undefined {
  for (const [name, numbering] of variables) {
    const value = env[name]?.trim();
    if (value === undefined || unrestricted.has(value)) continue;
    const setting = `${name}=${value}`;
    const words = wordsOf(value);
    for (const word of words) refusePart(word, setting);
    // The container has these cards alone, under numbers of its own.
    if (name === containers && words.length > 0 && words.length >= inventory.visible.length) continue;
    const gpus = words.map((word) => cardOf(word, setting, inventory, numbering));
    return { setting, gpus: chosen(gpus, inventory) };
  }
  return undefined;
}

/** The names of cards before the first one that names no card, such as -1: this is CUDA's rule. */
function wordsOf(value: string): string[] {
  if (noCard.has(value)) return [];
  const words = value.split(',').map((word) => word.trim());
  const end = words.findIndex((word) => /^(-\d+)?$/.test(word));
  return end < 0 ? words : words.slice(0, end);
}

function refusePart(word: string, setting: string): void {
  if (!/^MIG-|^\d+:\d+$/i.test(word)) return;
  throw new Error(
    `${setting} assigns '${word}', a part of a GPU (MIG): Vulkan, by which GPUs compute here, sees whole GPUs only; give this process a whole GPU, or --device cpu`,
  );
}

function cardOf(word: string, setting: string, inventory: GpuInventory, numbering: Numbering): NvidiaGpu {
  const found = /^\d{1,3}$/.test(word) ? numbering(inventory, Number(word)) : cardByUuid(word, inventory);
  if (!found)
    throw new Error(`${setting} assigns '${word}', which is not a GPU of this machine that NVIDIA's driver lists`);
  if (inventory.visible.includes(found)) return found;
  throw new Error(`${setting} assigns '${word}' (${found.busId}), which this process cannot open`);
}

/** A UUID may be cut off if its beginning is unique. */
export function cardByUuid(text: string, inventory: GpuInventory): NvidiaGpu | undefined {
  if (!/^GPU-[0-9a-f-]{4,}$/i.test(text)) return undefined;
  const begun = allOf(inventory).filter(({ uuid }) => uuid?.toLowerCase().startsWith(text.toLowerCase()));
  return begun.length === 1 ? begun[0] : undefined;
}

function allOf({ visible, hidden }: GpuInventory): NvidiaGpu[] {
  return [...visible, ...hidden].sort((a, b) => (a.busId < b.busId ? -1 : 1));
}

/** Each card once, with its index among the visible ones. */
function chosen(gpus: readonly NvidiaGpu[], { visible }: GpuInventory): ChosenGpu[] {
  return [...new Set(gpus)].map((gpu) => ({ gpu, index: visible.indexOf(gpu) }));
}

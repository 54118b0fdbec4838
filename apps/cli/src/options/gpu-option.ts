import {
  assignedGpus,
  type ChosenGpu,
  chooseGpus,
  findGpus,
  type GpuChoice,
  type GpuInventory,
  type GpuPin,
  mentionsGpus,
  parseGpuChoice,
  pinGpus,
} from '@halogrid/gpu-node/gpus';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import type { DeviceChoice } from './option-values.ts';

/** Parses the value of --gpu for commander. Throws UsageError. */
export function gpuChoice(text: string): GpuChoice {
  const choice = parseGpuChoice(text);
  if (choice !== undefined) return choice;
  throw new UsageError(
    sentence`Expected 'auto', 'all', or the index or UUID of a GPU for ${named('--gpu')} but received '${text}'`,
  );
}

/**
 * How to start a node on each GPU that --gpu asks for. `auto` asks for those that the environment assigns: none of them
 * if it forbids all, and undefined if it says nothing, or if no GPU is to be used. Rejects with UsageError if that is
 * not possible.
 */
export async function pinChosenGpus(
  choice: GpuChoice = 'auto',
  device: DeviceChoice = 'auto',
  env: NodeJS.ProcessEnv = process.env,
): Promise<GpuPin[] | undefined> {
  const isGpu = device === 'auto' || device === 'gpu';
  if (choice === 'auto' && !(isGpu && mentionsGpus(env))) return undefined;
  if (!isGpu) {
    throw new UsageError(sentence`Expected ${named('--device')} gpu with ${named('--gpu')} but received '${device}'`);
  }
  try {
    const inventory = await findGpus();
    const chosen = choice === 'auto' ? assigned(inventory, device, env) : chooseGpus(choice, inventory);
    return chosen && (await pinGpus(chosen, inventory!));
  } catch (error) {
    throw new UsageError(sentence`${(error as Error).message} (${named('--gpu')})`);
  }
}

/** Undefined if the environment assigns nothing, or if NVIDIA's driver is not there. */
function assigned(
  inventory: GpuInventory | undefined,
  device: DeviceChoice,
  env: NodeJS.ProcessEnv,
): ChosenGpu[] | undefined {
  const found = inventory && assignedGpus(env, inventory);
  if (found?.gpus.length === 0 && device === 'gpu') {
    throw new Error(`${found.setting} gives this process no GPU: give it one, or --device cpu`);
  }
  return found?.gpus;
}

import { type GpuChoice, parseGpuChoice } from '@halogrid/gpu-node/gpus';
import { UsageError } from '@halogrid/service';

/** Parses the value of --gpu for commander. Throws UsageError. */
export function gpuChoice(text: string): GpuChoice {
  const choice = parseGpuChoice(text);
  if (choice !== undefined) return choice;
  throw new UsageError(`Expected 'all' or the index of a GPU for --gpu but received '${text}'`);
}

import { createPipeline } from '@halogrid/kernels';
import { type JobSpec, mapFormats } from '@halogrid/proto';
import { whyNotHeld } from '@halogrid/results/map-format';

/**
 * One sentence for people about a job that leaves nothing but previews, with the options that would change that; undefined for
 * any other.
 */
export function onlyPreviews({ pipeline, mapFormat }: Pick<JobSpec, 'pipeline' | 'mapFormat'>): string | undefined {
  const { operations, bins, output } = createPipeline(pipeline!.operations);
  if (bins > 0 || mapFormat !== 'none') return undefined;
  const type = { sample: output.sample, bands: output.channels.length };
  const held = mapFormats.filter((format) => format !== 'none' && !whyNotHeld(format, type, bins));
  const options = held.map((format) => `--map ${format}`).join(' or ');
  const { kernel } = operations.at(-1)!;
  return `This makes previews alone, because these results of ${kernel} have no histogram: ${options} writes every value.`;
}

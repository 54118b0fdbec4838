import { type JobSpec, mapFormats } from '@halogrid/proto';
import { whyNotHeld } from '@halogrid/results/map-format';
import { specPipelines } from '../options/spec-pipelines.ts';

/**
 * One sentence for people about a job that leaves nothing but previews, with the options that would change that; undefined for
 * any other.
 */
export function onlyPreviews(spec: Pick<JobSpec, 'pipeline' | 'pipelines' | 'mapFormat'>): string | undefined {
  const [first, ...others] = specPipelines(spec).map(({ pipeline }) => pipeline);
  if ([first!, ...others].some(({ bins }) => bins > 0) || spec.mapFormat !== 'none') return undefined;
  const { operations, bins, output } = first!;
  const type = { sample: output.sample, bands: output.channels.length };
  const held = mapFormats.filter((format) => format !== 'none' && !whyNotHeld(format, type, bins));
  const options = held.map((format) => `--map ${format}`).join(' or ');
  const { kernel } = operations.at(-1)!;
  return `This makes previews alone, because these results of ${kernel} have no histogram: ${options} writes every value.`;
}

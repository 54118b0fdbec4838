import { type JobSpec, mapFormats } from '@halogrid/proto';
import { whyNotHeld } from '@halogrid/results/map-format';
import { specPipelines } from '../options/spec-pipelines.ts';

/**
 * A sentence about a job that writes nothing but previews, with the options that change that; undefined for other jobs.
 */
export function onlyPreviews(spec: Pick<JobSpec, 'pipeline' | 'pipelines' | 'mapFormat'>): string | undefined {
  const pipelines = specPipelines(spec).map(({ pipeline }) => pipeline);
  if (pipelines.some(({ bins }) => bins > 0) || spec.mapFormat !== 'none') return undefined;
  const areHeld = (format: string) =>
    pipelines.every(({ bins, output: { sample, channels } }) => {
      return !whyNotHeld(format, { sample, bands: channels.length }, bins);
    });
  const held = mapFormats.filter((format) => format !== 'none' && !format.includes(':') && areHeld(format));
  const options = held.map((format) => `--map ${format}`).join(' or ');
  const kernels = new Set(pipelines.map(({ operations }) => operations.at(-1)!.kernel));
  return `This makes only previews, because these results of ${[...kernels].join(' and ')} have no histogram: ${options} writes every value.`;
}

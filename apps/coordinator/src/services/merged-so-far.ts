import type { MergedSoFar } from '@halogrid/proto';
import { jobParts } from '../job/accepted-job.ts';
import { refuseValue } from '../job/refusal.ts';
import type { JobRecord, Ledger } from '../ledger/ledger.ts';

/**
 * What is merged so far of the pipeline of that name, or of the first; undefined for a job that is not led here. Throws a Refusal where
 * there is no such pipeline.
 */
export function mergedSoFar(
  { jobId, spec }: JobRecord,
  asked: string | undefined,
  ledger: Pick<Ledger, 'mergedSoFar'>,
): MergedSoFar | undefined {
  const merged = ledger.mergedSoFar(jobId);
  if (!merged) return undefined;
  const parts = jobParts(spec);
  const at = asked === undefined ? 0 : parts.findIndex(({ name }) => name === asked);
  const [part, sums] = [parts[at], merged[at]];
  if (!part || !sums) refuseValue('pipeline', asked ?? '', `one of ${parts.map(({ name }) => name).join(', ')}`);
  const { output, bins } = part.pipeline;
  return {
    pipelines: parts.map(({ name }) => name),
    pipeline: part.name,
    counted: exact(sums.counted),
    channels: output.channels.map((name, i) => {
      return { name, bins: Array.from(sums.bins.subarray(i * bins, (i + 1) * bins), exact) };
    }),
  };
}

/** Readers of JSON round integers above 2^53. */
const exact = (value: bigint): number | string => (value > 2n ** 53n ? value.toString() : Number(value));

import type { JobSpec } from './gen/halogrid/v1/job.ts';
import { type AskedLevel, parseLevel } from './level.ts';

/** What of images a job reads; undefined: all of the largest level, with samples as they are. */
export function readOptions({
  band,
  scale,
  level: text,
}: Pick<JobSpec, 'band' | 'scale' | 'level'>):
  | (Pick<JobSpec, 'band' | 'scale'> & { level: AskedLevel | undefined })
  | undefined {
  const level = parseLevel(text ?? '');
  return band || scale || level ? { band, scale, level } : undefined;
}

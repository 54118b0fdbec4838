import type { JobSpec } from './gen/halogrid/v1/job.ts';
import { type AskedLevel, parseLevel } from './level.ts';

/** What of images a job reads; undefined: all of the largest level of the first page, with samples as they are. */
export function readOptions({
  band,
  scale,
  level: text,
  page: asked,
}: Pick<JobSpec, 'band' | 'scale' | 'level' | 'page'>):
  | (Pick<JobSpec, 'band' | 'scale' | 'page'> & { level: AskedLevel | undefined })
  | undefined {
  const level = parseLevel(text ?? '');
  const page = asked || undefined;
  return band || scale || level || page ? { band, scale, level, page } : undefined;
}

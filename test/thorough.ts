import { repeated } from '@halogrid/testing';

/**
 * How often to repeat something: as the environment variable `setting` says, else `few` times, or `many` times with
 * HALOGRID_THOROUGH=1.
 */
export function repetitions(setting: string, few: number, many: number): number {
  return Number(process.env[setting] ?? repeated(few, many));
}

import { isThorough } from '@halogrid/kernels/testing-runs';

export { isThorough };

/** How often to repeat something: the setting of that name where there is one, else `many` times where everything is thorough. */
export function repetitions(setting: string, few: number, many: number): number {
  return Number(process.env[setting] ?? (isThorough ? many : few));
}

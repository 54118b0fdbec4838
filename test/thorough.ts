/** Whether everything is repeated as often as is worth it, as .ci/run does, and not a handful of times. */
export const isThorough = process.env.HALOGRID_THOROUGH === '1';

/** How often to repeat something: the setting of that name where there is one, else `many` times where everything is thorough. */
export function repetitions(setting: string, few: number, many: number): number {
  return Number(process.env[setting] ?? (isThorough ? many : few));
}

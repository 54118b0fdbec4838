/**
 * How often something is tried that comes out differently each time, such as a property or a schedule of faults: `few` times, or
 * HALOGRID_TEST_SCALE times as often.
 */
export function repeated(few: number): number {
  return Math.ceil(few * Number(process.env.HALOGRID_TEST_SCALE ?? 1));
}

/**
 * An id for a job: the time in UTC and six random hexadecimal digits, e.g. `20260131-235959-0a1b2c`. Ids sort by time
 * and are fit for a file name.
 *
 * @param random in [0, 1)
 */
export function createJobId(nowMs: number, random: number): string {
  const [date, time] = new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '').split('T');
  const digits = Math.floor(random * 0x1000000).toString(16);
  return `${date}-${time}-${digits.padStart(6, '0')}`;
}

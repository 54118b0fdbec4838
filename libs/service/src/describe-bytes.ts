const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Bytes in three digits: `37.1 MB`. */
export function describeBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  // A value that would round to 1000 goes to the next unit.
  for (; value >= 999.5 && unit + 1 < units.length; unit++) value /= 1000;
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`;
}

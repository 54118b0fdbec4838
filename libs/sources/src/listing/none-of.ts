/** The beginning of a sentence about files that all lack something: `none of its 3 files has`. */
export const noneOf = (count: number, what: 'file' | 'object'): string =>
  count === 1 ? `its only ${what} does not have` : `none of its ${count.toLocaleString('en')} ${what}s has`;

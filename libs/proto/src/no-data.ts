/** Values of `nodata` of a specification, in words. */
export const allowedNoData = `a number, 'nan' or 'none'`;

/** One form of each value of `nodata`; undefined if it is none. */
export function canonicalNoData(text: string): string | undefined {
  const word = text.toLowerCase();
  if (word === 'none' || word === 'nan') return word;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(word)) return undefined;
  // Adding 0 turns -0 into 0.
  const value = Number(word) + 0;
  return Number.isFinite(value) ? String(value) : undefined;
}

/** The sample that stands for no value: the one that a job names, else the one that a file states; undefined: none. */
export function noDataSample(asked: string | undefined, stated: number | undefined): number | undefined {
  if (!asked) return stated;
  return asked === 'none' ? undefined : Number(asked);
}

/** Whether a job names a sample that stands for no value, in every image. */
export const namesNoData = (asked: string | undefined): boolean => Boolean(asked) && asked !== 'none';

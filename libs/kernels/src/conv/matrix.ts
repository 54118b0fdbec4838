import { ParameterError } from '../kernel/parameter-error.ts';
import { shortened } from '../kernel/shortened.ts';

/** Sides of a convolution kernel: odd, with a halo that fits the vector before a GPU lane's first one. */
export const smallestSide = 3;
export const largestSide = 31;

/** The largest entry. Sums of such entries are far from the limit of float32. */
const largestEntry = 1e30;

const example = '[[0,1,0],[1,-4,1],[0,1,0]]';

export const isSide = (side: number): boolean => side % 2 === 1 && side >= smallestSide && side <= largestSide;

/** A square matrix of odd side 3 to 31, row by row. */
export type Matrix = readonly (readonly number[])[];

/** Reads a matrix from JSON. Throws ParameterError unless it is square, of odd side 3 to 31, with finite numbers. */
export function parseMatrix(text: string): Matrix {
  const refuse = (value: unknown, allowed: string): never => {
    throw new ParameterError('conv:matrix', shortened(value, 60), allowed);
  };
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch {
    return refuse(text, `a square matrix of finite numbers as JSON, such as ${example},`);
  }
  if (!Array.isArray(rows) || !rows.every((row): row is unknown[] => Array.isArray(row))) {
    return refuse(text, `an array of rows, such as ${example},`);
  }
  const side = rows.length;
  if (!isSide(side)) refuse(`${side} rows`, `an odd side from ${smallestSide} to ${largestSide}`);
  for (const [i, row] of rows.entries()) {
    if (row.length !== side) refuse(`${row.length} in row ${i + 1}`, `as many columns as rows, ${side},`);
    for (const [j, entry] of row.entries()) {
      const isEntry = typeof entry === 'number' && Math.abs(entry) <= largestEntry;
      if (!isEntry) {
        refuse(`${display(entry)} in row ${i + 1}, column ${j + 1}`, `finite numbers from -1e30 to 1e30`);
      }
    }
  }
  return rows as number[][];
}

/** An entry for messages. JSON has no word for infinity, which a number too large to read becomes. */
const display = (entry: unknown): string => (typeof entry === 'number' ? String(entry) : JSON.stringify(entry));

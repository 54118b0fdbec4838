import type { EvaluatedTable, Value } from './evaluate-table.ts';

/** Reads a table that `renderCsv` wrote. Numbers are numbers again; empty cells are undefined. */
export function readCsv(text: string): EvaluatedTable {
  const [header = [], ...lines] = cellsOf(text);
  return {
    columns: header.map((name) => ({ name, title: name, isPrinted: true })),
    rows: lines.map((cells) => {
      const values: Record<string, Value> = {};
      for (const [i, name] of header.entries()) values[name] = cellValue(cells[i] ?? '');
      // A CSV does not say which columns are labels, so any column may serve as one.
      return { values, labels: Object.fromEntries(Object.entries(values).filter(isLabel)) };
    }),
  };
}

const isLabel = (entry: [string, Value]): entry is [string, string | number] => entry[1] !== undefined;

function cellValue(text: string): Value {
  if (text === '') return undefined;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

/** Cells of RFC 4180, line by line. */
function cellsOf(text: string): string[][] {
  const lines: string[][] = [];
  let cells: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (end === '' && cells.length === 0 && !quoted && !plain) break;
    cells.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === ',') continue;
    lines.push(cells);
    cells = [];
  }
  return lines;
}

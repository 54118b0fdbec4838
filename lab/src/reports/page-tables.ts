import { rowsWith } from './draw-chart.ts';
import type { EvaluatedTable, Value } from './evaluate-table.ts';
import { cellText } from './render-table.ts';

/** A part of a CSV file that a page shows: JSON behind the word `table` in a comment of the page. */
export interface TableRequest {
  /** Path of the file in lab/reports, without its extension. */
  file: string;
  /**
   * Headings by column; a median has its deviation beside it. With `best`, 'block at cuda_x' is the block of the row
   * with the best cuda_x.
   */
  columns: Record<string, string>;
  /** Labels of the shown rows; all rows unless given. */
  only?: Record<string, string | number>;
  /**
   * Shows one row for each value of the label `of`. With `by`, it is the row whose column `by` is least or most.
   * Otherwise each other column is the least or the most of the rows.
   */
  best?: Best;
}

interface Best {
  of: string;
  by?: string;
  is: 'least' | 'most';
}

/** The same table of several machines, side by side: JSON behind the word `machines` in a comment of a page. */
export interface MachinesRequest {
  /** Files without their extension, by machine or day. The first file decides the rows. */
  files: Record<string, string>;
  /** Headings of the labels that tell rows apart. */
  by: Record<string, string>;
  /** Headings of the compared columns; a median has its deviation beside it. */
  columns: Record<string, string>;
  only?: Record<string, string | number>;
}

type TableOf = (file: string) => EvaluatedTable;
type Row = EvaluatedTable['rows'][number]['values'];

/** Some columns of a file as a table of Markdown. Throws Error for a column that it lacks. */
export function pageTable({ file, columns, only, best }: TableRequest, tableOf: TableOf): string {
  const table = tableOf(file);
  const names = Object.keys(columns);
  for (const name of names) for (const column of name.split(' at ')) expectColumn(table, file, column);
  const rows = rowsWith(table, only).map(({ values }) => values);
  const shown = best ? bestRows(rows, names, best) : rows;
  const measured = shown.filter((row) =>
    names.some((name) => typeof row[name] === 'number' && !(name in (only ?? {}))),
  );
  return markdown(
    Object.values(columns),
    measured.map((row) => names.map((name) => withSpread(row, name))),
  );
}

/** A table with each compared column of each machine. Throws Error for a column that no file has. */
export function machinesTable({ files, by, columns, only }: MachinesRequest, tableOf: TableOf): string {
  const machines = Object.entries(files).map(([machine, file]) => ({ machine, file, table: tableOf(file) }));
  const labels = Object.keys(by);
  const names = Object.keys(columns);
  for (const name of labels) for (const { table, file } of machines) expectColumn(table, file, name);
  for (const name of names) {
    if (!machines.some(({ table }) => hasColumn(table, name))) throw new Error(`No file has a column '${name}'`);
  }
  const cells = names.flatMap((name) =>
    machines
      .filter(({ table }) => hasColumn(table, name))
      .map(({ machine, table }) => ({
        heading: `${columns[name]}, ${machine}`,
        of: (row: Row) => withSpread(sameRow(rowsWith(table, only), labels, row), name),
      })),
  );
  const rows = rowsWith(machines[0]!.table, only)
    .map(({ values }) => ({ values, shown: cells.map(({ of }) => of(values)) }))
    .filter(({ shown }) => shown.some((text) => text !== '-'));
  return markdown(
    [...Object.values(by), ...cells.map(({ heading }) => heading)],
    rows.map(({ values, shown }) => [...labels.map((name) => cellText(values[name])), ...shown]),
  );
}

const hasColumn = (table: EvaluatedTable, name: string): boolean =>
  table.columns.some((column) => column.name === name);

function expectColumn(table: EvaluatedTable, file: string, name: string): void {
  if (!hasColumn(table, name)) throw new Error(`'${file}' has no column '${name}'`);
}

const sameRow = (rows: EvaluatedTable['rows'], labels: readonly string[], row: Row): Row | undefined =>
  rows.find(({ values }) => labels.every((name) => values[name] === row[name]))?.values;

/** A median with the standard deviation of its samples in percent; any other value alone. */
function withSpread(row: Row | undefined, name: string): string {
  const value = row?.[name];
  const deviation = name.endsWith('_median_ms') ? row?.[name.replace(/_median_ms$/, '_stdev_ms')] : undefined;
  if (typeof value !== 'number' || typeof deviation !== 'number') return cellText(value);
  const percent = (100 * deviation) / value;
  return `${cellText(value)} ± ${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

function bestRows(rows: readonly Row[], names: readonly string[], { of, by, is }: Best): Row[] {
  return [...Map.groupBy(rows, (row) => row[of])].map(([label, group]) => {
    if (by) return group.find((row) => row[by] === bestOf(group, by, is)) ?? group[0]!;
    return { ...Object.fromEntries(names.map((name) => [name, bestValue(group, name, is)])), [of]: label };
  });
}

/** The best value of a column. For 'name at column': the value of `name` in the row with the best `column`. */
function bestValue(rows: readonly Row[], column: string, is: Best['is']): Value {
  const [name, by] = column.split(' at ') as [string, string?];
  if (by === undefined) return bestOf(rows, name, is);
  const best = bestOf(rows, by, is);
  return best === undefined ? undefined : rows.find((row) => row[by] === best)?.[name];
}

function bestOf(rows: readonly Row[], name: string, is: Best['is']): Value {
  const numbers = rows.map((row) => row[name]).filter((value) => typeof value === 'number');
  return numbers.length > 0 ? Math[is === 'least' ? 'min' : 'max'](...numbers) : undefined;
}

/** A table of Markdown. */
export const markdown = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  [headings, headings.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

import { table } from '@halogrid/service/text-table';
import type { EvaluatedTable, Value } from './evaluate-table.ts';

/**
 * The table as text in aligned columns under headings of several lines; '-' stands for values that were not measured.
 */
export function renderTable({ columns, rows }: EvaluatedTable): string {
  const printed = columns.filter(({ isPrinted }) => isPrinted);
  const headingLines = Math.max(...printed.map(({ title }) => title.split('\n').length));
  const cells = printed.map(({ name, title }) => {
    const values = rows.map((row) => row.values[name]);
    const heading = title.split('\n');
    const above = Array.from({ length: headingLines - heading.length }, () => '');
    const column = [...above, ...heading, ...values.map(cellText)];
    const width = Math.max(...column.map((text) => text.length));
    const isText = values.some((value) => typeof value === 'string');
    return column.map((text) => (isText ? text : text.padStart(width)));
  });
  return table(Array.from({ length: rows.length + headingLines }, (_, i) => cells.map((column) => column[i]!)));
}

/** The table as CSV: every column, and numbers with all digits. */
export function renderCsv({ columns, rows }: EvaluatedTable): string {
  const names = columns.map(({ name }) => name);
  return csv(
    names,
    rows.map(({ values }) => names.map((name) => values[name])),
  );
}

/** A number in about four digits; '-' for undefined. */
export function cellText(value: Value): string {
  if (typeof value !== 'number') return value ?? '-';
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4);
}

export type CsvCell = string | number | undefined;

/** Rows as RFC 4180, with a header; undefined cells are empty. Throws Error for a number that is not finite. */
export function csv(header: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [header, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(value: CsvCell): string {
  if (value === undefined) return '';
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Error(`Expected a finite number in a CSV but received ${value}`);
    return String(value);
  }
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

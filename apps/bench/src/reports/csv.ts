export type CsvCell = string | number | undefined;

/** Rows as RFC 4180, with a header; what is not there is empty. Throws Error for a number that is not finite. */
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

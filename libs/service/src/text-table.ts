/** Rows of cells as text in aligned columns, one line per row. */
export function table(rows: readonly (readonly string[])[], indent = ''): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  return rows
    .map((row) => indent + row.map((cell, i) => cell.padEnd(widths[i]!)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Machine, machineFile, reports } from './bench-reports.ts';
import { drawChart, rowsWith } from './draw-chart.ts';
import type { EvaluatedTable } from './evaluate-table.ts';
import { readCsv } from './read-csv.ts';
import { cellText } from './render-table.ts';
import { everyStrategy } from './scale.ts';

/** What of a CSV file a page shows, as JSON behind the word `table` in a comment of the page. */
interface TableRequest {
  /** The file without its extension, from the folder of the pages. */
  file: string;
  /** Headings by column. */
  columns: Record<string, string>;
  /** Rows have these labels; all are shown unless given. */
  only?: Record<string, string | number>;
  /** One row for each value of a label: of each other column the least or the most of its rows. */
  best?: { of: string; is: 'least' | 'most' };
}

const tablePattern = /<!-- table (\{.*?\}) -->\n.*?<!-- \/table -->/gs;

/** Puts tables in their places in a page, between `<!-- table {…} -->` and `<!-- /table -->`. Throws Error for one that cannot be. */
export function fillPage(page: string, tableOf: (file: string) => EvaluatedTable): string {
  return page.replace(tablePattern, (_, request: string) => {
    const asked = JSON.parse(request) as TableRequest;
    return `<!-- table ${request} -->\n${markdownOf(asked, tableOf(asked.file))}<!-- /table -->`;
  });
}

/** The files that pages name. */
export function filesOf(page: string): string[] {
  return [...page.matchAll(tablePattern)].map(([, request]) => (JSON.parse(request!) as TableRequest).file);
}

function markdownOf({ file, columns, only, best }: TableRequest, table: EvaluatedTable): string {
  const names = Object.keys(columns);
  for (const name of names) {
    if (!table.columns.some((column) => column.name === name)) throw new Error(`'${file}' has no column '${name}'`);
  }
  const rows = rowsWith(table, only).map(({ values }) => values);
  const shown = best
    ? [...Map.groupBy(rows, (row) => row[best.of])].map(([label, group]) => ({
        ...Object.fromEntries(names.map((name) => [name, bestOf(group, name, best.is)])),
        [best.of]: label,
      }))
    : rows;
  const lines = [
    Object.values(columns),
    names.map(() => '---'),
    ...shown
      .filter((row) => names.some((name) => typeof row[name] === 'number' && !(name in (only ?? {}))))
      .map((row) => names.map((name) => cellText(row[name]))),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function bestOf(rows: readonly EvaluatedTable['rows'][number]['values'][], name: string, is: 'least' | 'most') {
  const numbers = rows.map((row) => row[name]).filter((value) => typeof value === 'number');
  return numbers.length > 0 ? Math[is === 'least' ? 'min' : 'max'](...numbers) : undefined;
}

/** The charts of a folder of CSV files, by name, as `bench reports` draws them. */
export async function drawCharts(folder: string): Promise<Map<string, string>> {
  const machine = JSON.parse(await readFile(join(folder, machineFile), 'utf8')) as Machine;
  const files = new Set(await readdir(folder));
  const charts = new Map<string, string>();
  for (const [id, describe] of Object.entries(reports)) {
    for (const { name, charts: plans } of describe({ isQuick: false, strategies: everyStrategy(1024) }).tables) {
      if (!files.has(`${id}-${name}.csv`)) continue;
      const table = readCsv(await readFile(join(folder, `${id}-${name}.csv`), 'utf8'));
      for (const plan of plans) {
        const svg = drawChart(plan, table, machine.device);
        if (svg) charts.set(`${id}-${plan.name}.svg`, svg);
      }
    }
  }
  return charts;
}

/** Everything in the folder of the pages that follows from the CSV files below it: charts and filled pages, by path. */
export async function renderPages(root: string): Promise<Map<string, string>> {
  const rendered = new Map<string, string>();
  const entries = await readdir(root, { withFileTypes: true });
  for (const folder of entries.filter((entry) => entry.isDirectory())) {
    if (!(await readdir(join(root, folder.name))).includes(machineFile)) continue;
    for (const [name, svg] of await drawCharts(join(root, folder.name))) rendered.set(`${folder.name}/${name}`, svg);
  }
  for (const { name } of entries.filter((entry) => entry.name.endsWith('.md'))) {
    const page = await readFile(join(root, name), 'utf8');
    const tables = new Map<string, EvaluatedTable>();
    for (const file of filesOf(page)) tables.set(file, readCsv(await readFile(join(root, `${file}.csv`), 'utf8')));
    rendered.set(
      name,
      fillPage(page, (file) => tables.get(file)!),
    );
  }
  return rendered;
}

/** Makes the pages of a folder anew. */
export async function writePages(root: string): Promise<void> {
  for (const [path, text] of await renderPages(root)) await writeFile(join(root, path), text);
}

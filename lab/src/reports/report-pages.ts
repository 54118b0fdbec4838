import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Machine, machineFile, machineLine, reports } from './bench-reports.ts';
import { drawChart } from './draw-chart.ts';
import type { EvaluatedTable } from './evaluate-table.ts';
import { type MachinesRequest, machinesTable, pageTable, type TableRequest } from './page-tables.ts';
import { readCsv } from './read-csv.ts';
import { everyStrategy } from './scale.ts';
import { fillSpeeds } from './speed-table.ts';

const requestPattern = /<!-- (table|machines) (\{.*?\}) -->\n.*?<!-- \/\1 -->/gs;

/**
 * Fills the tables of a page: of one file between `<!-- table {…} -->` and `<!-- /table -->`, and of the same file of
 * several machines between `<!-- machines {…} -->` and `<!-- /machines -->`. Throws Error if a file lacks a column.
 */
export function fillPage(page: string, tableOf: (file: string) => EvaluatedTable): string {
  return page.replace(requestPattern, (_, kind: string, json: string) => {
    const table = kind === 'table' ? pageTable(JSON.parse(json), tableOf) : machinesTable(JSON.parse(json), tableOf);
    return `<!-- ${kind} ${json} -->\n${table}<!-- /${kind} -->`;
  });
}

/** The CSV files that a page names, without extension. */
export function filesOf(page: string): string[] {
  return [...page.matchAll(requestPattern)].flatMap(([, kind, json]) =>
    kind === 'table'
      ? [(JSON.parse(json!) as TableRequest).file]
      : Object.values((JSON.parse(json!) as MachinesRequest).files),
  );
}

/** The charts of a folder of CSV files, by name, as `npm run lab -- reports` draws them. */
export async function drawCharts(folder: string): Promise<Map<string, string>> {
  const machine = JSON.parse(await readFile(join(folder, machineFile), 'utf8')) as Machine;
  const files = new Set(await readdir(folder));
  const charts = new Map<string, string>();
  for (const [id, describe] of Object.entries(reports)) {
    for (const { name, charts: plans } of describe({ isQuick: false, strategies: everyStrategy(1024) }).tables) {
      if (!files.has(`${id}-${name}.csv`)) continue;
      const table = readCsv(await readFile(join(folder, `${id}-${name}.csv`), 'utf8'));
      for (const plan of plans) {
        const svg = drawChart(plan, table, machineLine(machine));
        if (svg) charts.set(`${id}-${plan.name}.svg`, svg);
      }
    }
  }
  return charts;
}

/** Folders of the pages, and of the machines' CSV files and charts. */
export interface ReportFolders {
  /** Has README.md, and docs/benchmarks.md with its figures. */
  root: string;
  /** Has the pages, which name CSV files by their paths in `data` without the extension. */
  pages: string;
  /** Has a folder a machine. */
  data: string;
}

/** Paths of the folders of machines whose charts are drawn. */
async function chartFolders(data: string): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(data, { withFileTypes: true })) {
    const path = join(data, entry.name);
    if (entry.isDirectory() && (await readdir(path)).includes(machineFile)) paths.push(path);
  }
  return paths;
}

/** README.md, and everything that follows from the CSV files: charts and filled pages; by path. */
export async function renderPages({ root, pages, data }: ReportFolders): Promise<Map<string, string>> {
  const rendered = new Map<string, string>();
  const [readme, benchmarks] = [join(root, 'README.md'), join(root, 'docs/benchmarks.md')];
  rendered.set(readme, fillSpeeds(await readFile(readme, 'utf8'), await readFile(benchmarks, 'utf8')));
  for (const folder of await chartFolders(data)) {
    for (const [name, svg] of await drawCharts(folder)) rendered.set(join(folder, name), svg);
  }
  for (const name of (await readdir(pages)).filter((entry) => entry.endsWith('.md'))) {
    const page = await readFile(join(pages, name), 'utf8');
    const tables = new Map<string, EvaluatedTable>();
    for (const file of filesOf(page)) tables.set(file, readCsv(await readFile(join(data, `${file}.csv`), 'utf8')));
    rendered.set(
      join(pages, name),
      fillPage(page, (file) => tables.get(file)!),
    );
  }
  return rendered;
}

/** Fills the pages and draws the charts again. Removes charts that no CSV file gives any longer. */
export async function writePages(folders: ReportFolders): Promise<void> {
  const rendered = await renderPages(folders);
  for (const folder of await chartFolders(folders.data)) {
    for (const name of await readdir(folder)) {
      if (name.endsWith('.svg') && !rendered.has(join(folder, name))) await rm(join(folder, name));
    }
  }
  for (const [path, text] of rendered) await writeFile(path, text);
}

import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join, relative } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';

/** Fields of job.json that differ between runs of a job with the same outcome. */
const ofTheRun = ['id', 'submitted', 'finished', 'wallSeconds', 'seconds', 'nodes'];

/** Differences of two output folders, a line each: the name of the file, and the place of the difference. */
export async function differences(before: string, after: string): Promise<string[]> {
  const [was, is] = [filesOf(before), filesOf(after)];
  const found = [
    ...[...was].filter((name) => !is.has(name)).map((name) => `${name}: only before`),
    ...[...is].filter((name) => !was.has(name)).map((name) => `${name}: only after`),
  ];
  for (const name of was) if (is.has(name)) found.push(...(await inFile(name, before, after)));
  return found;
}

function filesOf(folder: string): Set<string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  return new Set(files.map((file) => relative(folder, join(file.parentPath, file.name))).sort());
}

async function inFile(name: string, ...folders: string[]): Promise<string[]> {
  const bytes = folders.map((folder) => readFileSync(join(folder, name)));
  const [was, is] = bytes as [Buffer, Buffer];
  const said = (texts: string[]) => texts.map((text) => `${name}: ${text}`);
  if (basename(name) === 'job.json') return said(inLines(...(bytes.map(outcomeLines) as [string[], string[]])));
  if (was.equals(is)) return [];
  switch (extname(name)) {
    case '.json':
    case '.jsonl':
      return said(inLines(linesOf(was), linesOf(is)));
    case '.parquet': {
      const rows = await Promise.all(folders.map((folder) => rowsOf(join(folder, name))));
      const lines = inLines(rows[0]!, rows[1]!);
      return said(lines.length > 0 ? lines : [`the same ${rows[0]!.length} rows in other bytes`]);
    }
    default:
      return said([
        `${was.length} and ${is.length} bytes, other from byte ${was.findIndex((byte, i) => byte !== is[i])}`,
      ]);
  }
}

/** Lines without the number of attempts, which depends on how busy the machine was. */
const linesOf = (bytes: Buffer): string[] =>
  bytes
    .toString()
    .replaceAll(/,"attempts":\d+(?=\}$)/gm, '')
    .split('\n');

/** The lines of a job.json without the fields that differ between runs. */
function outcomeLines(bytes: Buffer): string[] {
  const job = JSON.parse(bytes.toString());
  for (const key of ofTheRun) delete job[key];
  delete job.counts?.attempts;
  delete job.specification?.out;
  return JSON.stringify(job, undefined, 1).split('\n');
}

async function rowsOf(path: string): Promise<string[]> {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path) });
  return rows.map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? Number(value) : value)));
}

/** Characters shown of a long line, around the first difference. */
const shown = 160;

function inLines(was: string[], is: string[]): string[] {
  const found = was.length === is.length ? [] : [`${was.length} and ${is.length} lines or rows`];
  for (let i = 0; i < Math.max(was.length, is.length); i++) {
    const [a = '(none)', b = '(none)'] = [was[i], is[i]];
    if (a === b) continue;
    let from = 0;
    while (a[from] === b[from]) from++;
    from = Math.max(0, from - shown / 2);
    found.push(`${i + 1}: ${a.slice(from, from + shown)} | ${b.slice(from, from + shown)}`);
  }
  return found;
}

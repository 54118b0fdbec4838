import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writing } from '@halogrid/service/system-errors';
import { readReport } from './read-report.ts';
import { reportPage } from './report-page.ts';

/** The page uses the styles of the console, and its own. */
const styles = [
  import.meta.resolve('@halogrid/console/styles/console.css'),
  new URL('./report.css', import.meta.url).href,
];

/**
 * Writes a page about the job of an output folder, and resolves with its path. Rejects with UsageError if the folder is
 * not that of a job.
 */
export async function writeReport(folder: string, to?: string): Promise<string> {
  const report = await readReport(folder);
  const style = await Promise.all(styles.map((url) => readFile(fileURLToPath(url), 'utf8')));
  const file = to ?? resolve(`halogrid-report-${report.job.id.replaceAll(/[^\w.-]/g, '_')}.html`);
  const page = reportPage(report, style.join('\n'));
  await writing(file, 'another file with -o', () => writeFile(file, page));
  return file;
}

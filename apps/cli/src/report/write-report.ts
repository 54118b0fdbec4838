import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { placeAt } from '@halogrid/results/place';
import { writing } from '@halogrid/service/system-errors';
import { readReport } from './read-report.ts';
import { reportPage } from './report-page.ts';

/** The page uses the styles of the console, and its own. */
const styles = [
  import.meta.resolve('@halogrid/console/styles/console.css'),
  new URL('./report.css', import.meta.url).href,
];

/**
 * Writes a page about the job whose output is in a folder or at an s3: URI, and resolves with its path. Rejects with
 * UsageError if no job's output is there, and with PlaceError if a bucket cannot be read.
 */
export async function writeReport(out: string, to?: string): Promise<string> {
  const report = await readReport(placeAt(out));
  const style = await Promise.all(styles.map((url) => readFile(fileURLToPath(url), 'utf8')));
  const file = to ?? resolve(`halogrid-report-${report.job.id.replaceAll(/[^\w.-]/g, '_')}.html`);
  const page = reportPage(report, style.join('\n'));
  await writing(file, 'another file with -o', () => writeFile(file, page));
  return file;
}

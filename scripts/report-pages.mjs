// npm run report-pages: makes docs/reports again from the CSV files in it.
import { fileURLToPath } from 'node:url';
import { writePages } from '../apps/bench/src/reports/report-pages.ts';

await writePages(fileURLToPath(new URL('../docs/reports', import.meta.url)));

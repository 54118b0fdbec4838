// npm run report-pages: fills the tables of docs/reports and draws the charts of lab/reports, from the CSV files there;
// fills README.md's table of speed from docs/benchmarks.md.
import { fileURLToPath } from 'node:url';
import { writePages } from '../lab/src/reports/report-pages.ts';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
await writePages({ root: at('.'), pages: at('docs/reports'), data: at('lab/reports') });

import { writeFileSync } from 'node:fs';
import { toGrafana } from './dashboard.ts';
import { halogridDashboard } from './halogrid-dashboard.ts';

// Writes the committed dashboard; a test fails when it is out of date.
const path = new URL('dashboards/halogrid.json', import.meta.url);
writeFileSync(path, `${JSON.stringify(toGrafana(halogridDashboard), null, 2)}\n`);

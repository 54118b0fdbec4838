import { writeFileSync } from 'node:fs';
import { boards } from './boards/index.ts';
import { toGrafana } from './dashboard.ts';

// Writes the committed boards. A test fails if they are out of date.
for (const board of boards) {
  const path = new URL(`dashboards/${board.uid}.json`, import.meta.url);
  writeFileSync(path, `${JSON.stringify(toGrafana(board), null, 2)}\n`);
}

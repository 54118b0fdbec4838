import { readFileSync } from 'node:fs';

/** Version of this software, as results and metrics carry it. */
export const softwareVersion: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;

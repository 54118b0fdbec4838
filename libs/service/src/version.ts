import { readFileSync } from 'node:fs';

/** Version of this software, as results and metrics carry it. */
export const softwareVersion: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;

/**
 * Which results this software makes: an integer that rises with every change of a digest, whatever the reason (a kernel, a
 * decoder, which inputs count). What another version made is computed again, and nodes of another one are refused. Results
 * without a number are version 1.
 */
export const resultsVersion = 2;

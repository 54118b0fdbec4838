import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Adds a value to a file with one JSON text per line. */
export function addLine(path, value) {
  appendFileSync(path, `${JSON.stringify(value)}\n`);
}

/** The values in such a file; none if it does not exist. */
export function readLines(path) {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Adds a value to a file of one JSON text a line. */
export function addLine(path, value) {
  appendFileSync(path, `${JSON.stringify(value)}\n`);
}

/** The values in such a file; none where there is no file. */
export function readLines(path) {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

import { stripVTControlCharacters } from 'node:util';

/**
 * Sums the totals at the end of every project's test run. A cancelled test (its file crashed or ran out of time) counts
 * as failed.
 *
 * @param {string} output of any number of test runs
 */
export function testTotals(output) {
  const plain = stripVTControlCharacters(output);
  const sum = (name) => {
    let total = 0;
    for (const match of plain.matchAll(new RegExp(`^# ${name} (\\d+)\\s*$`, 'gm'))) total += Number(match[1]);
    return total;
  };
  return { passed: sum('pass'), failed: sum('fail') + sum('cancelled'), skipped: sum('skipped') };
}

/**
 * The tasks that failed, as Nx lists them at the end of a run.
 *
 * @param {string} output of any number of runs
 * @returns {string[]} project:target
 */
export function failedTasks(output) {
  const lists = stripVTControlCharacters(output).matchAll(/^Failed tasks:\n\n((?:- .+\n?)+)/gm);
  return [...lists].flatMap(([, list]) => [...list.matchAll(/^- (\S+)/gm)].map((match) => match[1]));
}

// Measures how well `halogrid changes` finds what happens in a drawn street.
//   npm run lab -- changes [--hours 2] [--seed 1] [--grid 9x16] [--op …] [--threshold 8] [--keep]
//     [--folder halogrid-out/street]
// Draws a frame a second as PGM into the folder (200 MB an hour), runs a job and looks for changes. Prints a Markdown
// table.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writePgm } from '../../../test/picture-files.ts';
import { drawStreet } from './draw-street.ts';
import { type FoundEvent, type Judgement, judge } from './judge.ts';
import { frameSize, planStreet } from './street.ts';

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    grid: { type: 'string', default: '9x16' },
    op: { type: 'string', multiple: true, default: ['conv:kernel=gaussian-5,as=u8', 'lbp:labels=nri-uniform'] },
    threshold: { type: 'string', default: '8' },
    folder: { type: 'string', default: 'halogrid-out/street' },
    keep: { type: 'boolean', default: false },
  },
});
const folder = values.folder;
const [frames, out] = [join(folder, 'frames'), join(folder, 'out')];
const street = planStreet(Math.round(3600 * Number(values.hours)), Number(values.seed));
const program = fileURLToPath(new URL('../../../apps/cli/bin/halogrid.mjs', import.meta.url));
const halogrid = (...args: string[]): string =>
  execFileSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 'inherit'],
  });

if (!existsSync(frames)) {
  mkdirSync(frames, { recursive: true });
  let second = 0;
  for (const pixels of drawStreet(street)) {
    await writePgm(join(frames, `${String(second++).padStart(6, '0')}.pgm`), { ...frameSize, pixels });
  }
}
const ops = values.op.flatMap((op) => ['--op', op]);
halogrid('run', frames, ...ops, '--grid', values.grid, '--device', 'cpu', '--out', out, '--json');
const before = performance.now();
const events: FoundEvent[] = JSON.parse(
  halogrid('changes', out, '--threshold', values.threshold, '--out', join(folder, 'changes'), '--json'),
);
const seconds = (performance.now() - before) / 1000;
process.stdout.write(describe(judge(street, events)));
process.stdout.write(`\n${street.seconds} frames compared in ${seconds.toFixed(1)} s, pictures included.\n`);
rmSync(values.keep ? out : folder, { recursive: true });

function describe({ incidents, falseLasting, passing, falsePassing }: Judgement): string {
  const rows = incidents.map(({ kind, start, end, found, late }) =>
    found
      ? `| ${kind} at ${start} s | ${found.kind} | ${late} s | ${end === street.seconds ? '' : `${found.end + 1 - end} s`} |`
      : `| ${kind} at ${start} s | not found | | |`,
  );
  const wrong = falseLasting.map(({ kind, start, end }) => `${kind} ${start}-${end}`).join(', ');
  return `| incident | found as | begins late by | ends late by |
| --- | --- | --- | --- |
${rows.join('\n')}

False alarms: ${falseLasting.length} lasting${wrong && ` (${wrong})`}, ${falsePassing} of ${passing} passing.
`;
}

// Runs two checkouts of halogrid over the same inputs with the same options, and compares all output byte for byte.
//   npm run lab -- versions --before FOLDER [--after FOLDER] [--mutants N] [--seed N] [--only TEXT]
//     [--keep FOLDER] [INPUT …]
// A FOLDER is a checkout with its node_modules; --after is this checkout unless given. Inputs are the samples, images
// of the oracle, N mutants (200 unless given), and the named folders or files. --only takes the cases whose line has
// the TEXT. With --keep, inputs and outputs stay in that folder. Prints a line a case and the differences. Ends with 1
// if there are any. One difference means nothing: if several tiles of an image are damaged, its sentence is about the
// tile that was computed first.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { scratchFolder } from '../../../test/scratch-folder.ts';
import { makeCases, type Run } from './cases.ts';
import { differences } from './differences.ts';
import { Version } from './version.ts';

const checkout = fileURLToPath(new URL('../../..', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    before: { type: 'string' },
    after: { type: 'string', default: checkout },
    mutants: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    keep: { type: 'string', default: scratchFolder() },
  },
});
if (!values.before) throw new Error('Expected --before with the folder of another checkout');

/** The most differences of a case that are shown. */
const most = 12;
const folder = resolve(values.keep);
const mutants = { count: Number(values.mutants), seed: Number(values.seed) };
const inputs = positionals.map((path) => resolve(path));
const all = await makeCases({ folder: join(folder, 'inputs'), checkout, mutants, inputs });
const cases = all.filter(({ name, args }) => `${name} ${args.join(' ')}`.includes(values.only));

/** Fills the folder of a run. Files keep the time of their originals, so that later runs keep their results. */
function fill({ source, files }: Run): void {
  if (!files) return;
  rmSync(source, { recursive: true, force: true });
  mkdirSync(source, { recursive: true });
  for (const file of files) cpSync(file, join(source, basename(file)), { preserveTimestamps: true });
}

const [before, after] = await Promise.all([values.before, values.after].map((path) => Version.start(resolve(path))));
let different = 0;
try {
  for (const [number, { name, args, runs }] of cases.entries()) {
    const line = `${number + 1}/${cases.length} ${name}: ${args.join(' ')}`;
    const outs = ['before', 'after'].map((version) => join(folder, version, String(number)));
    const ends: string[] = [];
    for (const [i, version] of [before!, after!].entries()) {
      mkdirSync(outs[i]!, { recursive: true });
      for (const run of runs) {
        fill(run);
        ends[i] = await version.run([run.source, '--out', outs[i]!, ...args]);
      }
    }
    const found = [
      ...(ends[0] === ends[1] ? [] : [`ended: ${ends.join(' | ')}`]),
      ...(await differences(outs[0]!, outs[1]!)),
    ];
    console.log(`${line}: ${found.length === 0 ? 'the same' : `${found.length} differences`}`);
    for (const text of found.slice(0, most)) console.log(`    ${text}`);
    if (found.length > 0) different++;
  }
} finally {
  await Promise.all([before, after].map((version) => version!.stop()));
}
console.log(`${cases.length} cases, ${different} of them different`);
if (different > 0) process.exitCode = 1;

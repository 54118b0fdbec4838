import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

/** A program that measures or compares parts of halogrid, in a process of its own. */
export interface Script {
  /** In this folder. The comment at the top of the file is the help. */
  path: string;
  summary: string;
  /** Options of Node. */
  nodeOptions?: readonly string[];
}

/** Every script by the name of its command. */
export const scripts: Readonly<Record<string, Script>> = {
  answers: { path: 'coordinator/answers.ts', summary: 'what answers of small frames cost a coordinator' },
  leaders: { path: 'coordinator/leaders.ts', summary: 'the same for several coordinators that share a PostgreSQL' },
  tables: { path: 'coordinator/tables.ts', summary: 'what the tables of a job cost a coordinator' },
  ledger: {
    path: 'ledger/million-shards.ts',
    summary: 'how fast a ledger takes a job and gives it back',
    nodeOptions: ['--expose-gc'],
  },
  scheduler: {
    path: 'scheduler/simulate.ts',
    summary: 'shards a second through scheduler, dispatcher and ledger',
    nodeOptions: ['--expose-gc'],
  },
  listing: { path: 'listing/plan.ts', summary: 'listing and planning a folder of small files beside find' },
  'node-counts': { path: 'node/counts.ts', summary: 'what small frames cost a node without decoding' },
  'node-jpegs': { path: 'node/jpegs.ts', summary: 'what JPEGs cost a node whose device decodes them' },
  'node-raw': { path: 'node/raw.ts', summary: 'raw frames of a node beside reading the same files in C' },
  memory: { path: 'memory/measure.ts', summary: 'peak memory by the size of images and the number of frames' },
  scenes: { path: 'scenes/measure.ts', summary: 'a GeoTIFF of four bands beside its bands as gray files' },
  estimates: { path: 'estimates/measure.ts', summary: 'what plans promise beside what runs take' },
  changes: { path: 'changes/measure.ts', summary: 'how well `halogrid changes` finds what happens in a drawn street' },
  peers: { path: 'peers/compare.ts', summary: 'LBP histograms beside Dask, scikit-image, OpenCV and NumPy' },
  versions: { path: 'versions/compare.ts', summary: 'whether two checkouts write the same bytes' },
  'watching-cost': { path: 'watching/cost.ts', summary: 'what metrics and spans cost a cluster' },
  'watching-parts': { path: 'watching/parts.ts', summary: 'what a scrape and a span cost' },
  'first-paint': {
    path: 'watching/first-paint.ts',
    summary: 'how long the pages of the console take to show something',
  },
};

/** Runs a script, or prints its help for `--help`. Resolves with its exit code. */
export async function runScript({ path, nodeOptions = [] }: Script, words: readonly string[]): Promise<number> {
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(helpOf(path));
    return 0;
  }
  const child = spawn(process.execPath, [...nodeOptions, fileOf(path), ...words], { stdio: 'inherit' });
  // A terminal sends these to the script, too, which cleans up.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code, signal] = await once(child, 'exit');
  return code ?? 128 + constants.signals[signal as NodeJS.Signals];
}

/** The comment at the top of a script. */
export function helpOf(path: string): string {
  const [comment] = /^(?:\/\/.*\n)+/.exec(readFileSync(fileOf(path), 'utf8'))!;
  return comment.replaceAll(/^\/\/ ?/gm, '');
}

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createProgram, noSettings } from '../program.ts';
import { runCommand, wordsOf } from './read-run.ts';
import type { RunOptions } from './run-options.ts';

const all: Required<Omit<RunOptions, 'sources' | 'pipelines' | 'signal' | 'note'>> & { pipeline: string } = {
  include: '*',
  exclude: 'x',
  column: 'image.bytes',
  nodata: -9999,
  mask: 'masks',
  level: 2,
  page: 3,
  band: 2,
  scale: '0,1',
  op: 'lbp',
  pipeline: 'a=lbp',
  border: 'zero',
  out: 'o',
  map: 'none',
  grid: '1x1',
  tile: 1,
  batch: 1,
  verify: 1,
  maxQuarantined: '1%',
  checksum: true,
  fresh: true,
  waitForNode: true,
  priority: 1,
  every: 1,
  from: 1,
  to: 2,
  fps: 1,
  hwaccel: 'none',
  capturedFrom: 'mtime',
  capturedZone: 'UTC',
  nodes: 1,
  device: 'cpu',
  decode: 'cpu',
  gpu: 'all',
  sourceGrace: '1m',
  spaceGrace: 0,
  scratch: 'scratch',
};

test('a program may give every option of the command, except options of output and clusters', async () => {
  const names = runCommand().options.map((option) => option.attributeName());
  assert.deepEqual(names.toSorted(), Object.keys(all).sort());
  const command = (await createProgram(noSettings, ['run'])).commands.find((each) => each.name() === 'run')!;
  const ofCommand = command.options.map((option) => option.attributeName());
  const left = ofCommand.filter((name) => !names.includes(name));
  // Each flag also has an option that switches it off.
  assert.deepEqual(
    [...new Set(left)],
    [
      ...['part', 'plan', 'splitImages'],
      ...['tokenFile', 'tlsCa', 'tlsCert', 'tlsKey', 'quiet', 'verbose'],
      ...['coordinator', 'coordinatorFile', 'trace', 'json', 'profile'],
    ],
  );
});

test('docs/library.md has a row for each option', () => {
  const page = readFileSync(fileURLToPath(new URL('../../../../docs/library.md', import.meta.url)), 'utf8');
  const table = page.slice(page.indexOf('## Options of `run`'), page.indexOf('## A cluster'));
  const { pipeline: _, ...options } = all;
  for (const name of [...Object.keys(options), 'sources', 'pipelines', 'signal', 'note']) {
    assert.match(table, new RegExp(`^\\|.*\`${name}\`.*\\|`, 'm'), name);
  }
});

test('options become the words of the command', () => {
  const words = wordsOf({
    op: ['conv:kernel=box-3', 'lbp'],
    grid: { rows: 2, columns: 3 },
    fresh: true,
    checksum: false,
    from: 1.5,
    pipelines: { both: ['conv', 'lbp'], codes: 'lbp' },
  });
  assert.deepEqual(words.sort(), [
    ...['--fresh', '--from=1.5', '--grid=2x3', '--op=conv:kernel=box-3', '--op=lbp'],
    ...['--pipeline=both=conv+lbp', '--pipeline=codes=lbp'],
  ]);
});

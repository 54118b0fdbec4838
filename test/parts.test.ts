import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { noFfmpeg } from '@halogrid/imaging/testing-videos';
import { eventually } from '@halogrid/testing';
import { command } from './command.ts';
import { Halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';

// Runs that share a job without a coordinator: `merge` makes of their parts what one run makes.

const folder = scratchFolder();
const samples = fileURLToPath(new URL('../samples', import.meta.url));
const at = (name: string): string => join(folder, name);

/** Images in tiles and in batches, a manifest, a file that cannot be read, and a recording if those can be. */
const sources = [at('images'), at('manifest.txt'), ...(noFfmpeg ? [] : [join(samples, 'videos', 'cam1.mp4')])];
const options = ['--op', 'conv:kernel=box-3,channels=rgb,as=u8', '--grid', '2x3', '--map', 'tiff'];
const cut = ['--tile', '250', '--batch', '4', ...(noFfmpeg ? [] : ['--every', '9'])];
const job = [...sources, ...options, ...cut];
const here = ['--device', 'cpu', '--quiet'];

async function exits(code: number, args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const ended = await command(args);
  assert.equal(ended.code, code, ended.stderr);
  return ended;
}

before(async () => {
  mkdirSync(at('images'));
  await writePgm(join(at('images'), 'picture.pgm'), drawPicture(500, 320));
  writeFileSync(join(at('images'), 'broken.png'), 'not a picture');
  for (const name of readdirSync(join(samples, 'frames')).slice(0, 5)) {
    cpSync(join(samples, 'frames', name), join(at('images'), name));
  }
  writeFileSync(
    at('manifest.txt'),
    `${join(samples, 'images', 'cloth.jpg')}\n${join(samples, 'images', 'grass.png')}\n`,
  );
});

/** What the job.json of two outputs of one job must have in common. */
function lasting(out: string): unknown {
  const { id: _, submitted, finished, wallSeconds, seconds, nodes, specification, ...rest } = readJson(out, 'job.json');
  return { ...rest, specification: { ...specification, out: undefined } };
}

test('merged parts are the files of one run, also if a part was killed; a complete part ends at once; a later run keeps them', async () => {
  await exits(3, ['run', ...job, '--out', at('one'), ...here]);
  await exits(0, ['plan', ...job, '--write', at('plan'), '--quiet']);
  const part = (number: number): string[] => [
    'run',
    '--plan',
    at('plan'),
    '--part',
    `${number}/2`,
    '--out',
    at(`part-${number}`),
    '--split-images',
  ];
  const killed = new Halogrid([...part(2), ...here]);
  await eventually('the part to begin', () => existsSync(join(at('part-2'), '.halogrid', 'log-1')));
  killed.kill();
  await killed.ended;
  // The plan itself quarantines the broken file, so every part says so.
  for (const number of [1, 2]) await exits(3, [...part(number), ...here]);
  const complete = await exits(3, [...part(1), '--device', 'cpu']);
  assert.match(complete.stderr, /continues: (\d+) of \1 shards planned so far were done before/);
  assert.match(complete.stdout, /part +1 of 2 in .*part-1\/: halogrid merge makes one output of all parts/);
  await exits(2, ['merge', at('part-1'), '--out', at('merged')]);
  const { stdout } = await exits(3, ['merge', at('part-2'), at('part-1'), '--out', at('merged'), '--json']);
  const [one, merged] = [hashFiles(at('one')), hashFiles(at('merged'))];
  assert.deepEqual({ ...merged, 'job.json': '' }, { ...one, 'job.json': '' });
  assert.deepEqual(lasting(at('merged')), lasting(at('one')));
  assert.equal(JSON.parse(stdout).digest, readJson(at('one'), 'job.json').digest);
  const again = await exits(3, ['run', ...job, '--out', at('merged'), ...here, '--json']);
  const { counts, incremental } = JSON.parse(again.stdout);
  assert.deepEqual([incremental.kept, incremental.again], [counts.frames, 1]);
});

const wrong: [args: string[], sentence: RegExp][] = [
  [
    ['run', 'a', '--part', '3/2'],
    /Expected I\/N with I from 1 to N and N up to 10000, .* for --part but received '3\/2'/,
  ],
  [['run', 'a', '--part', '0/2'], /for --part but received '0\/2'/],
  [['run', 'a', '--plan', 'p'], /Expected --part with --plan/],
  [['run', 'a', '--split-images'], /Expected --part with --split-images/],
  [
    ['run', 'a', '--plan', 'p', '--part', '1/2'],
    /Expected no sources with --plan but received 'a': the plan has its own/,
  ],
  [
    ['run', '--plan', 'p', '--part', '1/2', '--grid', '2x2'],
    /Expected no --grid with --plan: give it to 'halogrid plan … --write'/,
  ],
  [['run', '--plan', 'p', '--part', '1/2'], /Expected a plan but 'p' has no job\.json of halogrid/],
  [['run', 'a', '--part', '1/2', '--coordinator', 'h:1'], /Expected --part or --coordinator but received both/],
  [['plan', 'a', '--write', 'p', '--out', 'o'], /Expected --write or --out but received both/],
  [['merge', 'a'], /--out/],
  [['merge', '--out', 'o'], /Missing required argument 'part'/],
];

for (const [args, sentence] of wrong) {
  test(`halogrid ${args.join(' ')} is wrong usage`, async () => {
    const { stderr } = await exits(2, args);
    assert.match(stderr, sentence);
  });
}

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { ServingCluster } from './cluster.ts';
import { commandProcess } from './command-process.ts';
import { type Ended, halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hashFiles } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// A wrong command gives one sentence and exit code 2, and leaves no trace.

const folder = scratchFolder();
const good = join(folder, 'good.pgm');
const missing = join(folder, 'missing.pgm');
const onCpu = ['--device', 'cpu'];
let cluster: ServingCluster;

before(async () => {
  writeFileSync(join(folder, 'even.json'), '[[1, 2], [3, 4]]');
  writeFileSync(join(folder, 'nan.json'), '[[0, 0, 0], [0, NaN, 0], [0, 0, 0]]');
  await writePgm(good, drawPicture(9, 9));
  cluster = await sharedCluster();
});
after(() => cluster?.stop());

describe('a wrong command', () => {
  const wrong: [args: string[], sentence: RegExp][] = [
    [['rnu', good], /'rnu'/],
    [['run'], /'source'/],
    [['run', good, '--jsn'], /'--jsn'/],
    [['run', good, '--op', 'lpb'], /--op .*'lpb'/],
    [['run', good, '--op', 'lbp:convention=nw-cw'], /lbp:convention .*'nw-cw'/],
    [['run', good, '--op', 'lbp:size=3'], /'size'/],
    [['run', good, '--op', 'lbp:points=25'], /4 to 24 for lbp:points .*'25'/],
    [['run', good, '--op', 'lbp:radius=0'], /lbp:radius .*'0'/],
    [['run', good, '--op', 'lbp:convention=opencv,labels=ror'], /lbp:labels .*'ror'/],
    [['run', good, '--op', 'ldp:order=7'], /2 to 6 for ldp:order .*'7'/],
    [['run', good, '--op', 'conv:kernel=box-4'], /conv:kernel .*'box-4'/],
    [['run', good, '--op', 'conv:kernel=gaussian-33'], /3 to 31 for conv:kernel .*'gaussian-33'/],
    [['run', good, '--op', `conv:matrix=${folder}/even.json`], /conv:matrix .*2/],
    [['run', good, '--op', `conv:matrix=${folder}/nan.json`], /matrix .*nan\.json/],
    [['run', good, '--op', `conv:matrix=${folder}/missing.json`], /matrix .*missing\.json/],
    [
      ['run', good, '--op', 'conv:kernel=sobel', '--op', 'lbp'],
      /u8 gray for the input of kernel 2 .*'f32 gray of conv/,
    ],
    [['run', good, '--op', 'ldp', '--map', 'png'], /--map .*'png'/],
    [['run', good, '--grid', '4'], /--grid .*'4'/],
    [['run', good, '--op', 'ldp', '--grid', '260x260'], /65536 cells .*'260x260'/],
    [['run', good, '--border', 'torus'], /'torus'/],
    [['run', good, '--map', 'jpeg'], /--map .*'jpeg'/],
    [['run', good, '--tile', '0'], /--tile .*'0'/],
    [['run', good, '--batch', '1e3'], /--batch .*'1e3'/],
    [['run', good, '--nodes', '-1'], /--nodes .*'-1'/],
    [['run', good, '--device', 'tpu'], /--device .*'tpu'/],
    [['run', missing, ...onCpu], /'.*missing\.pgm'/],
    [['run', good, missing, '--nodes', '2', ...onCpu], /'.*missing\.pgm'/],
    [['run', good, '--gpu', '1,2'], /'auto', 'all', or the index or UUID of a GPU for --gpu .*'1,2'/],
    [['run', good, '--gpu', 'all', '--nodes', '2'], /--nodes .*--gpu/],
    [['run', good, '--gpu', '0', ...onCpu], /--device gpu with --gpu .*'cpu'/],
    [['node', '--gpu', 'all', ...onCpu], /--device gpu with --gpu .*'cpu'/],
    [['node', '--coordinator', 'nowhere'], /--coordinator .*'nowhere'/],
    [['coordinator', '--listen', '0.0.0.0:7070'], /0\.0\.0\.0:7070/],
  ];
  for (const [args, sentence] of wrong) {
    test(`halogrid ${args.map((word) => word.replace(`${folder}/`, '')).join(' ')}`, async () => {
      const cwd = mkdtempSync(join(folder, 'here-'));
      assertRefused(await commandProcess.run(args, cwd), sentence);
      assert.deepEqual(readdirSync(cwd), []);
    });
  }

  test('by its launcher, in a separate process', async () => {
    const [args, sentence] = wrong[0]!;
    assertRefused(await halogrid(args), sentence);
  });
});

test('a node for each GPU without a driver', {
  skip: existsSync('/proc/driver/nvidia') && 'there is one',
}, async () => {
  for (const choice of ['all', '0']) {
    assertRefused(await commandProcess.run(['node', '--gpu', choice]), /no NVIDIA driver here/);
    assertRefused(await commandProcess.run(['run', good, '--gpu', choice]), /no NVIDIA driver here/);
  }
});

describe('an output folder that is in use', () => {
  const full = join(folder, 'full');
  const other = join(folder, 'other');
  const file = join(folder, 'file');
  before(async () => {
    mkdirSync(full);
    writeFileSync(join(full, 'letter.txt'), 'of somebody');
    writeFileSync(file, 'a file');
    await cluster.jobs.run({ sources: [good], out: other });
  });
  for (const [command, ...args] of [
    ['run', ...onCpu],
    ['run', '--coordinator'],
    ['submit', '--coordinator'],
  ]) {
    const refused = async (out: string, border: string, sentence: RegExp): Promise<void> => {
      const where = args.includes('--coordinator') ? [...args, cluster.address] : args;
      const ended = await commandProcess.run([command!, good, '--out', out, '--border', border, ...where]);
      assertRefused(ended, sentence);
    };
    const name = [command, ...args].join(' ');

    test(`${name}: by something else`, async () => {
      await refused(full, 'interior', /'.*\/full' is not empty .*'letter\.txt'/);
      assert.deepEqual(readdirSync(full), ['letter.txt']);
    });

    test(`${name}: by another job's results`, async () => {
      const before = hashFiles(other);
      await refused(other, 'wrap', /'.*\/other' holds the results of another job/);
      assert.deepEqual(hashFiles(other), before);
    });

    test(`${name}: it is a file, or below one`, async () => {
      await refused(file, 'interior', /'.*\/file'/);
      await refused(join(file, 'below'), 'interior', /'.*\/file\/below'/);
    });
  }
});

test('an unknown job', async () => {
  for (const command of ['status', 'watch', 'cancel']) {
    assertRefused(await cluster.halogrid([command, 'nobody']), /'nobody'/);
  }
});

function assertRefused({ code, stdout, stderr }: Ended, sentence: RegExp): void {
  assert.match(stderr, /^halogrid: [^\n]+\n$/);
  assert.match(stderr, sentence);
  assert.deepEqual([code, stdout], [2, '']);
}

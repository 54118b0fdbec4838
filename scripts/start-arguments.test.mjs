import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startArguments } from './start-arguments.mjs';

const run = ['run', '--nodes', '2'];
const onSamples = [...run, 's/images', 's/frames', 's/videos', '--tile', '1024', '--map', 'tiff'];
const table = [
  [[], onSamples],
  [['a.png'], [...run, 'a.png']],
  [['--json'], [...onSamples, '--json']],
  // If an option is there twice, the last one counts.
  [
    ['--map', 'png'],
    [...onSamples, '--map', 'png'],
  ],
  [
    ['--device', 'cpu'],
    [...onSamples, '--device', 'cpu'],
  ],
  [
    ['--device=cpu', 'a.png'],
    [...run, '--device=cpu', 'a.png'],
  ],
  [
    ['--json', 'a.png'],
    [...run, '--json', 'a.png'],
  ],
  [
    ['--nodes', '3', 'a.png'],
    [...run, '--nodes', '3', 'a.png'],
  ],
];

for (const [given, args] of table) {
  test(`npm start -- ${given.join(' ')}`, () => {
    assert.deepEqual(startArguments(given, { folder: 's' }), { args, notes: [] });
  });
}

test('if colour is asked for, npm start leaves the recording out and says so', () => {
  const { args, notes } = startArguments(['--op', 'conv:kernel=sobel,channels=rgb'], { folder: 's' });
  assert.equal(args.includes('s/videos'), false);
  assert.deepEqual(notes, ['The recording among the samples is left out: videos are read only in gray.']);
});

test('without a decoder for videos, npm start leaves the recording out and says so', () => {
  const samples = { folder: 's', whyNoVideos: 'x is not installed' };
  const { args, notes } = startArguments([], samples);
  assert.deepEqual(
    args,
    onSamples.filter((argument) => argument !== 's/videos'),
  );
  assert.deepEqual(notes, ['The recording among the samples is left out: x is not installed.']);
  assert.deepEqual(startArguments(['a.mp4'], samples), { args: [...run, 'a.mp4'], notes: [] });
});

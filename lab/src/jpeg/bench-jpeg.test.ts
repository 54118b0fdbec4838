import assert from 'node:assert/strict';
import { test } from 'node:test';
import { benchJpeg } from './bench-jpeg.ts';

test('each quality has tables of frames, all equal to libjpeg-turbo, and of a node', async () => {
  const notes: string[] = [];
  const options = {
    device: 'software',
    qualities: [30, 90],
    batch: 2,
    width: 50,
    height: 30,
    repetitions: 1,
    frames: 3,
    decode: ['cpu', 'gpu'],
  } as const;
  const text = await benchJpeg(options, (line) => notes.push(line));
  assert.match(
    notes.join('\n'),
    /^3 JPEG frames of quality 30, .* kB each\n(.*frames\/s\n)+3 JPEG frames of quality 90, .* kB each\n/,
  );
  const found = text.match(/2 of 2 decoded, 2 of 2 different ones equal to libjpeg-turbo/g);
  assert.equal(found?.length, 2);
  assert.deepEqual(text.match(/^--decode \w+(?= +\d)/gm), [
    '--decode cpu',
    '--decode gpu',
    '--decode cpu',
    '--decode gpu',
  ]);
  for (const stage of ['destuff', 'settle', 'place_chunks', 'place_groups', 'write', 'transform', 'all in one pass']) {
    assert.match(text, new RegExp(`^${stage} +\\d`, 'm'));
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isThorough } from '@halogrid/testing';
import { benchJpeg } from './bench-jpeg.ts';

/** A software GPU compiles the decoder three times for each quality. */
const qualities = isThorough ? [30, 90] : [90];

test('each quality has tables of frames, all equal to libjpeg-turbo, and of a node', async () => {
  const notes: string[] = [];
  const options = {
    device: 'software',
    qualities,
    batch: 2,
    width: 50,
    height: 30,
    repetitions: 1,
    frames: 3,
    decode: ['cpu', 'gpu'],
  } as const;
  const text = await benchJpeg(options, (line) => notes.push(line));
  const noted = qualities.map((quality) => `3 JPEG frames of quality ${quality}, .* kB each\n(.*frames/s\n)+`);
  assert.match(`${notes.join('\n')}\n`, new RegExp(`^${noted.join('')}$`));
  const found = text.match(/2 of 2 decoded, 2 of 2 different ones equal to libjpeg-turbo/g);
  assert.equal(found?.length, qualities.length);
  assert.deepEqual(
    text.match(/^--decode \w+(?= +\d)/gm),
    qualities.flatMap(() => ['--decode cpu', '--decode gpu']),
  );
  for (const stage of ['destuff', 'settle', 'place_chunks', 'place_groups', 'write', 'transform', 'all in one pass']) {
    assert.match(text, new RegExp(`^${stage} +\\d`, 'm'));
  }
});

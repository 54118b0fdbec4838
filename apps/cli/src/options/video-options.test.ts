import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@halogrid/service';
import { readHwaccel, readRate, readTime, videoOptions } from './video-options.ts';

const times: [text: string, ms: number | undefined][] = [
  ['0', 0],
  ['90.5', 90_500],
  ['0.001', 1],
  ['01:30', 90_000],
  ['00:01:30.500', 90_500],
  ['100:00:00', 360_000_000],
  ['1:75', undefined],
  ['60:00', undefined],
  ['1:5', undefined],
  ['-1', undefined],
  ['1.2345', undefined],
  ['', undefined],
  ['noon', undefined],
];
for (const [text, ms] of times) {
  test(`the time '${text}' is ${ms === undefined ? 'refused' : `${ms} ms`}`, () => {
    if (ms === undefined) assert.throws(() => readTime('--from')(text), UsageError);
    else assert.equal(readTime('--from')(text), ms);
  });
}

test('a rate is a fraction', () => {
  assert.deepEqual(readRate('5'), { num: 5, den: 1 });
  assert.deepEqual(readRate('0.5'), { num: 5, den: 10 });
  assert.deepEqual(readRate('30000/1001'), { num: 30_000, den: 1001 });
  for (const text of ['0', '0.0', '1/0', '-1', '5fps', '']) assert.throws(() => readRate(text), UsageError);
});

test('without options of videos, a job has no field for them', () => {
  assert.equal(videoOptions({}), undefined);
  assert.deepEqual(videoOptions({ every: 3 }), {
    every: 3,
    fromMs: undefined,
    toMs: undefined,
    fpsNum: 0,
    fpsDen: 0,
    hwaccel: '',
  });
});

test('a job without a value for hardware decodes on cores alone', () => {
  assert.equal(readHwaccel('none'), undefined);
  assert.equal(videoOptions({ hwaccel: readHwaccel('none') }), undefined);
  assert.equal(videoOptions({ hwaccel: readHwaccel('auto') })?.hwaccel, 'auto');
  assert.throws(() => readHwaccel('magic'), UsageError);
});

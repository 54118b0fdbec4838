import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalNoData, namesNoData, noDataSample } from './no-data.ts';

test('equal values have one form, and other texts have none', () => {
  const forms: [text: string, form: string | undefined][] = [
    ['0', '0'],
    ['-0', '0'],
    ['255.0', '255'],
    ['-9999', '-9999'],
    ['+1e3', '1000'],
    ['-3.4028234663852886e+38', '-3.4028234663852886e+38'],
    ['NaN', 'nan'],
    ['none', 'none'],
    ['', undefined],
    ['1e999', undefined],
    ['0x10', undefined],
    ['1,5', undefined],
    ['zero', undefined],
  ];
  for (const [text, form] of forms) assert.equal(canonicalNoData(text), form, text);
});

test('what a job names goes before what a file states', () => {
  const table: [asked: string | undefined, stated: number | undefined, sample: number | undefined][] = [
    [undefined, undefined, undefined],
    [undefined, 7, 7],
    ['0', 7, 0],
    ['nan', 7, Number.NaN],
    ['none', 7, undefined],
  ];
  for (const [asked, stated, sample] of table) assert.equal(noDataSample(asked, stated), sample);
  assert.deepEqual([undefined, '', 'none', '0', 'nan'].map(namesNoData), [false, false, false, true, true]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJob } from '../options/job-options.ts';
import { onlyPreviews } from './only-previews.ts';

const said = (op: string, map = 'none'): string | undefined =>
  onlyPreviews(parseJob(['a.png'], { op: [op], map, grid: '1x1' }, '/home').spec!);

test('a job that makes only previews is reported, with the options that change that', () => {
  const sentence =
    'This makes only previews, because these results of lbp have no histogram: --map tiff or --map zarr writes every value.';
  assert.equal(said('lbp:labels=var'), sentence);
  assert.equal(said('lbp:labels=var', 'tiff'), undefined);
});

test('a job with a histogram does not make only previews', () => {
  for (const op of ['lbp', 'ldp', 'conv:kernel=sobel', 'conv:kernel=sobel,as=u8', 'conv:kernel=log-5,as=i16']) {
    assert.equal(said(op), undefined);
  }
});

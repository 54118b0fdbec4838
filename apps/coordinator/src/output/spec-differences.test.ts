import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobSpec } from '@halogrid/proto';
import { redactUri } from '@halogrid/sources';
import { describeDifferences, specDifferences } from './spec-differences.ts';

const lbp = { kernel: 'lbp', parameters: { convention: 'nw-cw-msb', labels: 'all' }, border: 'interior' };
const blur = { kernel: 'conv', parameters: { kernel: 'gaussian-5', as: 'u8' }, border: 'zero' };
const specOf = (more: object): JobSpec =>
  JobSpec.fromPartial({
    sources: ['file:///in'],
    pipeline: { operations: [lbp] },
    mapFormat: 'none',
    grid: { rows: 1, columns: 1 },
    ...more,
  });
const withOperations = (...operations: object[]) => ({ pipeline: { operations } });

const withPipelines = (chains: Record<string, object[]>) => {
  const named = Object.entries(chains).map(([name, operations]) => ({ name, pipeline: { operations } }));
  return { pipeline: undefined, pipelines: { named } };
};

const table: [before: object, now: object, said: string][] = [
  [{}, {}, ''],
  [{}, { sources: ['file:///in', 'file:///b'] }, 'source 2 is file:///b and was not given'],
  [
    { sources: ['file:///in', 'file:///b', 'file:///c'] },
    { sources: ['file:///in'] },
    'source 2 is not given and was file:///b',
  ],
  [{}, withOperations({ ...lbp, border: 'zero' }), 'pipeline.operations[0].border is zero and was interior'],
  [{}, withOperations(blur), 'op is conv:kernel=gaussian-5,as=u8 and was lbp:convention=nw-cw-msb,labels=all'],
  [
    {},
    withOperations({ ...lbp, parameters: { ...lbp.parameters, labels: 'uniform' } }),
    'labels of op lbp is uniform and was all',
  ],
  [
    withOperations(blur, lbp),
    withOperations({ ...blur, parameters: { ...blur.parameters, kernel: 'box-3' } }, { ...lbp, border: 'mirror' }),
    'kernel of op conv (kernel 1) is box-3 and was gaussian-5; pipeline.operations[1].border of kernel 2 is mirror and was interior',
  ],
  [{}, { tilePx: 512, grid: { rows: 2, columns: 3 } }, 'grid is 2x3 and was 1x1; tile_px is 512 and was not given'],
  [
    {},
    withPipelines({ a: [blur, lbp] }),
    'op is not given and was lbp:convention=nw-cw-msb,labels=all; ' +
      'pipelines a is conv:kernel=gaussian-5,as=u8+lbp:convention=nw-cw-msb,labels=all with border zero, interior and was not given',
  ],
  [
    withPipelines({ a: [lbp] }),
    {},
    'op is lbp:convention=nw-cw-msb,labels=all and was not given; ' +
      'pipelines a is not given and was lbp:convention=nw-cw-msb,labels=all with border interior',
  ],
  [
    withPipelines({ a: [lbp], b: [blur] }),
    withPipelines({ a: [lbp] }),
    'pipelines b is not given and was conv:kernel=gaussian-5,as=u8 with border zero',
  ],
  [
    withPipelines({ a: [lbp], b: [blur] }),
    withPipelines({ b: [blur], a: [lbp] }),
    'the order of pipelines is b, a and was a, b',
  ],
  [{ mapFormat: 'tiff', batchFrames: 7 }, {}, 'map_format is none and was tiff; batch_frames is not given and was 7'],
  [{}, { priority: -3, verifyPercent: 1.5 }, 'priority is -3 and was 0; verify_percent is 1.5 and was 0'],
  [
    { video: { every: 10, fromMs: 60_000 } },
    { video: { every: 1, toMs: 1500, fpsNum: 30_000, fpsDen: 1001, hwaccel: 'cuda' } },
    'video.every is not given and was 10; video.from_ms is not given and was 60 s; video.to_ms is 1.5 s and was not given; ' +
      'video.fps_num is 30000/1001 and was not given; video.hwaccel is cuda and was not given',
  ],
  [
    { filter: { include: [], exclude: ['old'] } },
    { filter: { include: ['*.png', 'a/**'], exclude: ['old'] } },
    'filter.include is *.png a/** and was not given',
  ],
  [{ level: '1' }, { level: '0.5um' }, 'level is 0.5um and was 1'],
  [{ page: 2 }, {}, 'page is not given and was 2'],
  [
    { band: { numbers: [2] } },
    { band: { numbers: [3] }, scale: { min: -1, max: 1, bits: 16 } },
    'band is 3 and was 2; scale is -1,1,u16 and was not given',
  ],
  [{ sources: [redactUri('https://host/a.png?key=1')] }, { sources: ['https://host/a.png?key=1'] }, ''],
];

for (const [before, now, said] of table) {
  test(`what differs is named with both values: ${said || 'nothing'}`, () => {
    assert.equal(String(describeDifferences(specDifferences(specOf(before), specOf(now)))), said);
  });
}

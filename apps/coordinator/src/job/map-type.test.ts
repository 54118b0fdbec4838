import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline, parseOperation } from '@halogrid/kernels';
import { mapKind } from './map-type.ts';

test('the last kernel says whether a mean means anything', () => {
  const table: [ops: string[], kind: string][] = [
    [['lbp'], 'labels'],
    [['lbp:points=16,radius=2,labels=uniform'], 'labels'],
    [['lbp:points=24,radius=3'], 'labels'],
    [['lbp:labels=var,convention=scikit-image'], 'values'],
    [['ldp:order=3'], 'labels'],
    [['conv:kernel=sobel'], 'values'],
    [['conv:kernel=gaussian-5,as=u8'], 'values'],
    [['conv:kernel=sobel-x,as=i16'], 'values'],
    [['conv:kernel=gaussian-5,as=u8', 'lbp'], 'labels'],
  ];
  for (const [ops, kind] of table) assert.equal(mapKind(createPipeline(ops.map(parseOperation))), kind, ops.join());
});

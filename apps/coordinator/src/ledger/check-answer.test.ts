import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShardWork, SourceResult } from '../shard.ts';
import { checkAnswer, InvalidResultError } from './check-answer.ts';

const shape = { channels: 2, bins: 2 };
const size = { width: 4, height: 2 };
const frames: ShardWork = {
  kind: 'frames',
  sources: [
    { index: 5, uri: 'file:///5' },
    { index: 6, uri: 'file:///6' },
  ],
};
const tile: ShardWork = {
  kind: 'tile',
  source: { index: 1, uri: 'file:///1' },
  size: { width: 9, height: 9 },
  rect: { x: 4, y: 4, width: 4, height: 2 },
};
const frame: SourceResult = { source: 5, size, rect: { x: 0, y: 0, ...size }, counted: 7, bins: [3, 4, 7, 0] };
const error = { source: 6, stage: 'decode', error: 'broken' };
const tileResult: SourceResult = { ...frame, source: 1, size: tile.size, rect: tile.rect };

test('an answer that covers the work and adds up is taken', () => {
  checkAnswer(frames, { results: [frame], errors: [error] }, shape);
  checkAnswer(tile, { results: [tileResult], errors: [] }, shape);
});

test('an answer that cannot be right is refused with the source and the reason', () => {
  const refusals: [why: RegExp, work: ShardWork, results: SourceResult[]][] = [
    [/source 7 was not asked for/, frames, [frame, { ...frame, source: 7 }]],
    [/source 5 was not asked for, or is answered twice/, frames, [frame, frame]],
    [/source 6 was not asked for, or is answered twice/, frames, [frame, { ...frame, source: 6 }]],
    [/source 5 is not answered/, frames, []],
    [/source 5 has 3 bins instead of 4/, frames, [{ ...frame, bins: [3, 4, 7] }]],
    [/source 5 counts 7 pixels but the bins of channel 1 hold 6/, frames, [{ ...frame, bins: [3, 4, 6, 0] }]],
    [/source 5 has -1 pixels in bin 0/, frames, [{ ...frame, bins: [-1, 8, 7, 0] }]],
    [/source 5 has 0.5 pixels in bin 0/, frames, [{ ...frame, bins: [0.5, 6.5, 7, 0] }]],
    [/source 5 counts 9 of 8 pixels/, frames, [{ ...frame, counted: 9, bins: [9, 0, 9, 0] }]],
    [/source 5 counts NaN of 8 pixels/, frames, [{ ...frame, counted: Number.NaN }]],
    [/source 5 has 0 x 2 pixels/, frames, [{ ...frame, size: { width: 0, height: 2 } }]],
    [/source 5 covers another rectangle/, frames, [{ ...frame, rect: { ...frame.rect, height: 1 } }]],
    [/source 1 covers another rectangle/, tile, [{ ...tileResult, rect: { ...tile.rect, x: 0 } }]],
    [/source 1 is 8 x 9 but was planned as 9 x 9/, tile, [{ ...tileResult, size: { width: 8, height: 9 } }]],
  ];
  for (const [why, work, results] of refusals) {
    const errors = work === frames ? [error] : [];
    assert.throws(
      () => checkAnswer(work, { results, errors }, shape),
      (thrown: Error) => {
        assert.ok(thrown instanceof InvalidResultError);
        assert.match(thrown.message, why);
        return true;
      },
    );
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionsOf, fewFilesSentence } from './limit-connections.ts';

test('connections take a quarter of the files that may be open, up to a limit', () => {
  const cases: [files: number, connections: number][] = [
    [20, 16],
    [256, 64],
    [1024, 256],
    [4096, 1024],
    [16_384, 4096],
    [1_048_576, 4096],
    [Number.POSITIVE_INFINITY, 4096],
  ];
  for (const [files, connections] of cases) assert.equal(connectionsOf(files), connections, String(files));
});

test('a low limit of files gives a warning that says what to change', () => {
  assert.equal(fewFilesSentence(16_384), undefined);
  assert.equal(
    fewFilesSentence(1024),
    'This process may open 1024 files (ulimit -n), so each of its addresses takes 256 connections at most',
  );
});

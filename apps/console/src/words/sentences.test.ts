import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeNeed, JobState, readNeed, writeNeed } from '@halogrid/proto';
import {
  describeLack,
  describeLacks,
  describeMended,
  describeNeed,
  describeReason,
  shownPath,
  whyNothingMerged,
} from './sentences.js';

test('the lack of a node is described in words', () => {
  const table: [need: string, sentence: string][] = [
    ['read file:///data/archive', 'cannot read /data/archive'],
    ['read file:///data/my%20archive', 'cannot read /data/my archive'],
    ['read s3://bucket/prefix', 'cannot read s3://bucket/prefix'],
    ['write file:///x', 'cannot write /x'],
    ['decode video', 'cannot decode videos'],
    ['decode jpeg', 'cannot decode JPEGs'],
    ['decode tiff', 'cannot decode tiff'],
  ];
  for (const [need, sentence] of table) assert.equal(describeNeed(need), sentence);
});

test('every need of the protocol is described in words', () => {
  const needs = [
    readNeed('file:///a'),
    writeNeed('file:///a'),
    decodeNeed({ decodes: 'jpeg' }),
    decodeNeed({ decodes: 'video' }),
    decodeNeed({ decodes: 'slide' }),
  ];
  assert.deepEqual(needs.map(describeNeed), [
    'cannot read /a',
    'cannot write /a',
    'cannot decode JPEGs',
    'cannot decode videos',
    'cannot decode slides',
  ]);
});

test('the lack of a node is described with its reason, if there is one', () => {
  const need = 'read file:///data';
  assert.equal(describeLack({ need, reason: 'ENOENT: no such file' }), 'cannot read /data: ENOENT: no such file');
  assert.equal(describeLack({ need, reason: '' }), 'cannot read /data');
});

test('what a node cannot do for one reason is one sentence', () => {
  const outside = 'The path lies outside of the data roots (--data-root)';
  const lacks = [
    { need: 'read file:///a', reason: outside },
    { need: 'decode video', reason: '' },
    { need: 'read file:///b', reason: outside },
    { need: 'read file:///c', reason: 'EACCES: permission denied' },
    { need: 'write file:///d', reason: outside },
    { need: 'read file:///e', reason: outside },
    { need: 'decode jpeg', reason: '' },
  ];
  assert.deepEqual(describeLacks(lacks), [
    `cannot read /a and 2 more: ${outside}`,
    'cannot read /c: EACCES: permission denied',
    `cannot write /d: ${outside}`,
    'cannot decode videos',
    'cannot decode JPEGs',
  ]);
});

test('a reason is described with its number of inputs and one of them', () => {
  const reason = { stage: 'decode', error: 'The file is empty', inputs: 9, example: 'file:///in/a%20b.png' };
  assert.equal(describeReason(reason), '9 × decode: The file is empty, e.g. /in/a b.png');
  assert.equal(describeReason({ ...reason, inputs: 1 }), '1 × decode: The file is empty: /in/a b.png');
  const named = { ...reason, inputs: 1, error: "'/in/a b.png' does not exist" };
  assert.equal(describeReason(named), "1 × decode: '/in/a b.png' does not exist");
  assert.equal(describeReason({ ...reason, stage: '', error: 'Other reasons', example: '' }), '9 × Other reasons');
});

test('mended inputs are described in the same way', () => {
  const mended = { mended: 'Bytes were left out', inputs: 9, example: 'file:///in/a%20b.jpg' };
  assert.equal(describeMended(mended), '9 × Bytes were left out, e.g. /in/a b.jpg');
});

test('a path that would break a line stays a URI, and so does text that is not a URI', () => {
  const uris = ['file:///a%0Ab.png', 'file:///a%1B[2J.png', 'file:///100%', 'https://host/a%20b', 'file://host/a'];
  for (const uri of uris) assert.equal(shownPath(uri), uri);
});

test('a sentence appears for a complete job that merged nothing, not for others', () => {
  const counts = { sources: 0, frames: 0, shards: 0, shardsDone: 0, attempts: 0, pixels: 0, quarantined: 0 };
  const why = (frames: number, quarantined: number, state: JobState = JobState.COMPLETE) =>
    whyNothingMerged({ state, counts: { ...counts, frames, quarantined } });
  assert.equal(why(0, 12), 'the results are empty: all 12 inputs are quarantined');
  assert.equal(why(0, 1), 'the results are empty: the only input is quarantined');
  assert.deepEqual([why(1, 12), why(0, 0), why(0, 12, JobState.RUNNING)], [undefined, undefined, undefined]);
});

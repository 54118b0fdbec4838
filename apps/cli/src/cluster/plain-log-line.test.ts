import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noticeOf, plainLogLine } from './child.ts';

const table = [
  ['{"level":"info","time":"2026-01-31T12:00:00.000Z","name":"node","msg":"attached"}', 'info attached'],
  ['{"level":"error","msg":"no device","err":{"message":"no adapter"}}', 'error no device: no adapter'],
  ['{"level":"error","msg":"no adapter","err":{"message":"no adapter"}}', 'error no adapter'],
  ['Segmentation fault', 'Segmentation fault'],
  ['{"a":1}', '{"a":1}'],
  ['17', '17'],
  ['null', 'null'],
] as const;

for (const [line, plain] of table) test(`${line} reads '${plain}'`, () => assert.equal(plainLogLine(line), plain));

test('only marked lines are notices', () => {
  assert.equal(noticeOf('{"level":"error","notice":true,"msg":"the disk is full"}'), 'the disk is full');
  for (const line of ['{"level":"error","msg":"the disk is full"}', '"notice":true', '{"notice":true}', 'Killed', '']) {
    assert.equal(noticeOf(line), undefined);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainLogLine } from './plain-log-line.ts';

const table = [
  ['{"level":30,"time":1,"name":"node","msg":"attached"}', 'info attached'],
  ['{"level":50,"msg":"no device","err":{"message":"no adapter"}}', 'error no device: no adapter'],
  ['{"level":50,"msg":"no adapter","err":{"message":"no adapter"}}', 'error no adapter'],
  ['Segmentation fault', 'Segmentation fault'],
  ['{"a":1}', '{"a":1}'],
  ['17', '17'],
  ['null', 'null'],
] as const;

for (const [line, plain] of table) test(`${line} reads '${plain}'`, () => assert.equal(plainLogLine(line), plain));

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usageSentence } from './failure.ts';

const table: [message: string, sentence: string][] = [
  ["error: unknown option '--jsn'\n(Did you mean --json?)", "Unknown option '--jsn' (did you mean --json?)"],
  ["error: unknown option '--outt=a=b'\n(Did you mean --out?)", "Unknown option '--outt' (did you mean --out?)"],
  ["error: unknown option '--tile-px=-1'", "Unknown option '--tile-px'"],
  ["error: unknown option '--fresh=no'\n(Did you mean --fresh?)", "Expected no value for --fresh but received 'no'"],
  ["error: missing required argument 'source'", "Missing required argument 'source'"],
];
for (const [message, sentence] of table) {
  test(sentence, () => assert.equal(usageSentence(message), sentence));
}

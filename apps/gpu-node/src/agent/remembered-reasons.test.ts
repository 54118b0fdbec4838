import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RememberedReasons } from './remembered-reasons.ts';

test('a failure is looked into once, until the failure changes, a coordinator is heard, or a minute is over', async () => {
  const looks: string[] = [];
  let nowMs = 0;
  const find = async (address: string): Promise<string> => {
    looks.push(address);
    return `${address}, look ${looks.length}`;
  };
  const reasons = new RememberedReasons(find, () => nowMs);
  assert.equal(await reasons.reasonOf('a:1', 'refused'), 'a:1, look 1');
  assert.equal(await reasons.reasonOf('a:1', 'refused'), 'a:1, look 1');
  assert.equal(await reasons.reasonOf('b:1', 'refused'), 'b:1, look 2');
  assert.equal(await reasons.reasonOf('a:1', 'not trusted'), 'a:1, look 3');
  reasons.forget('a:1');
  assert.equal(await reasons.reasonOf('a:1', 'not trusted'), 'a:1, look 4');
  nowMs = 60_000;
  assert.equal(await reasons.reasonOf('a:1', 'not trusted'), 'a:1, look 5');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostTime } from './host-time.ts';

test('only the time in which a host was waited for counts, each second once, by host', () => {
  const time = new HostTime();
  time.look(1_000, undefined);
  time.look(2_000, 'http://a');
  time.look(2_500, 'http://a');
  time.look(4_500, 's3://b');
  assert.deepEqual(time.take(), { 'away http://a': 2.5 });
  time.look(5_000, undefined);
  time.look(9_000, undefined);
  assert.deepEqual(time.take(), { 'away s3://b': 0.5 });
  assert.deepEqual(time.take(), {});
});

test('at most eight hosts have a sum of their own', () => {
  const time = new HostTime();
  for (let i = 0; i < 100; i++) time.look(1000 * i, `http://${i}`);
  assert.equal(Object.keys(time.take()).length, 8);
});

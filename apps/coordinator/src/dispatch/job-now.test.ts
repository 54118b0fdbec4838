import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readJobNow, writeJobNow } from './job-now.ts';

const speed = fc.constant({ pixelsPerSecond: 1.5e9, shardsPerSecond: 0.1 });
const requiredKeys: ('nodes' | 'waiting')[] = ['nodes', 'waiting'];
const now = fc.record({ nodes: fc.nat(), waiting: fc.string(), speed }, { requiredKeys, noNullPrototype: true });

test('a coordinator reads what another one wrote about its job', () => {
  fc.assert(fc.property(now, (told) => assert.deepEqual(readJobNow(writeJobNow(told)), told)));
});

test('a text in another form is ignored', () => {
  const texts = ['', 'it waits', 'null', '3', '[]', '{}', '{"nodes":"2","waiting":""}', '{"nodes":2,"waiting":3}'];
  for (const text of [...texts, '{"nodes":2,"waiting":"","speed":{"pixelsPerSecond":1}}']) {
    assert.equal(readJobNow(text), undefined, text);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { childSpanId, spanIdOf, traced, traceIdOf, traceparentOf } from './trace-context.ts';

test('a trace context has the form of the W3C standard, and each lease has its own span', () => {
  // The grammar of traceparent, version 00, in https://www.w3.org/TR/trace-context/.
  assert.match(traceparentOf('job', 3, 1, true), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  assert.equal(traceparentOf('job', 3, 1, false), `00-${traceIdOf('job')}-${spanIdOf('job', 3, 1)}-00`);
  const spans = [
    spanIdOf('job'),
    spanIdOf('job', 3, 1),
    spanIdOf('job', 3, 2),
    spanIdOf('job', 31, 1),
    spanIdOf('other', 3, 1),
  ];
  assert.equal(new Set(spans).size, spans.length);
  assert.notEqual(traceIdOf('job'), traceIdOf('other'));
});

test('the child spans of a lease differ from it and from each other, and match the grammar', () => {
  const lease = spanIdOf('job', 3, 1);
  const children = Array.from({ length: 255 }, (_, i) => childSpanId(lease, i + 1));
  assert.equal(new Set([lease, ...children]).size, 256);
  for (const id of children) assert.match(id, /^[0-9a-f]{16}$/);
});

test('a line about a job names its trace, and others stay as they are', () => {
  assert.deepEqual(traced({ jobId: 'job', shard: 3 }), { jobId: 'job', shard: 3, trace_id: traceIdOf('job') });
  assert.deepEqual(traced({ node: 'n' }), { node: 'n' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lookahead, ShardQueue } from './shard-queue.ts';

test('entries come out in the order they went in, less those taken from near the front', () => {
  const step = fc.oneof({ weight: 3, arbitrary: fc.constant('push' as const) }, fc.nat(80));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
      const queue = new ShardQueue<{ id: number }>();
      const model: { id: number }[] = [];
      for (const [id, action] of steps.entries()) {
        if (action === 'push') {
          const entry = { id };
          queue.push(entry);
          model.push(entry);
        } else {
          // An entry too far from the front is not found.
          const wanted = model[action];
          const found = queue.find((entry) => entry === wanted);
          assert.equal(found, action < lookahead ? wanted : undefined);
          if (found) {
            queue.remove(found);
            model.splice(action, 1);
          }
        }
        assert.equal(queue.size, model.length);
        assert.equal(
          queue.find(() => true),
          model[0],
        );
      }
    }),
  );
});

test('a hundred thousand entries pass through in the order they went in', () => {
  const queue = new ShardQueue<{ id: number }>();
  for (let id = 0; id < 100_000; id++) queue.push({ id });
  for (let id = 0; id < 100_000; id++) {
    const first = queue.find(() => true)!;
    if (first.id !== id) assert.fail(`Expected ${id} but received ${first.id}`);
    queue.remove(first);
  }
  assert.equal(queue.size, 0);
});

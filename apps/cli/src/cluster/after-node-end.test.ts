import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterNodeEnd, maxRestarts } from './child.ts';

const table = [
  [{ hasServed: true, restarts: 0 }, 0, 'restart'],
  [{ hasServed: true, restarts: 0 }, 4, 'restart'],
  [{ hasServed: true, restarts: maxRestarts - 1 }, 0, 'restart'],
  [{ hasServed: true, restarts: maxRestarts }, 0, 'give up'],
  [{ hasServed: true, restarts: maxRestarts }, 1, 'go on without it'],
  [{ hasServed: false, restarts: 0 }, 0, 'give up'],
  [{ hasServed: false, restarts: 0 }, 1, 'go on without it'],
] as const;

for (const [node, others, action] of table) {
  const which = `a node that ${node.hasServed ? 'served' : 'never served'}, after ${node.restarts} restarts, ${others} others`;
  test(`${which}: ${action}`, () => assert.equal(afterNodeEnd(node, others), action));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LifeLimits, whyStop } from './life.ts';

const noon = Date.UTC(2026, 0, 31, 12);
const never = { idleExitMs: undefined, untilMs: undefined, drainTimeoutMs: 8_000 };
const idle = { reason: 'It had no shard for 600 s (--idle-exit)', hasWorkLeft: false };
const over = { reason: 'Its time ends at 2026-01-31T12:00:00.000Z (--until)', hasWorkLeft: true };

const table: [what: string, limits: Partial<LifeLimits>, idleMs: number, nowMs: number, stop: object | undefined][] = [
  ['without limits a node stays', {}, 1e12, noon, undefined],
  ['a node that is idle for less stays', { idleExitMs: 600_000 }, 599_999, noon, undefined],
  ['a node that is idle for long stops', { idleExitMs: 600_000 }, 600_000, noon, idle],
  ['a node with 14 s to go stays', { untilMs: noon }, 0, noon - 14_000, undefined],
  ['a node with time to drain and to close stops', { untilMs: noon }, 0, noon - 13_000, over],
  ['a long drain begins early', { untilMs: noon, drainTimeoutMs: 3_600_000 }, 0, noon - 3_605_000, over],
  ['an idle node whose time ends should run again', { untilMs: noon, idleExitMs: 600_000 }, 1e6, noon, over],
];

for (const [what, limits, idleMs, nowMs, stop] of table) {
  test(what, () => assert.deepEqual(whyStop({ ...never, ...limits }, { idleMs, nowMs }), stop));
}

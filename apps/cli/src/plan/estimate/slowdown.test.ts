import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CoreTimes, coresIn, coreTimes, othersOn, slowdownBy } from './slowdown.ts';

const isNear = (value: number, expected: number): void =>
  assert.ok(Math.abs(value - expected) < 1e-9 * Math.max(1, expected), `${value} is not ${expected}`);

test('other programs slow a job down only if cores are short, in proportion to their threads', () => {
  assert.equal(slowdownBy(2, 2, 4), 1);
  assert.equal(slowdownBy(6, 2, 4), 2);
  const count = fc.integer({ min: 1, max: 64 });
  fc.assert(
    fc.property(fc.nat(100), count, count, (others, own, cores) => {
      assert.ok(slowdownBy(others, own, cores) >= 1);
      assert.ok(slowdownBy(others + 1, own, cores) >= slowdownBy(others, own, cores));
    }),
  );
});

// user nice system idle iowait irq softirq steal guest guest_nice
const stat = (user: number, idle: number) => `cpu  999 0 0 999 0 0 0 0 0 0
cpu0 ${user} 2 3 ${idle} 5 6 7 8 9 10
cpu1 ${user} 2 3 ${idle} 5 6 7 8 9 10
cpu2 ${3 * user} 0 0 0 0 0 0 0 0 0
cpu12 ${3 * user} 0 0 0 0 0 0 0 0 0
intr 1 2 3
procs_running 17
`;

test('only cores that this process may use count', () => {
  assert.deepEqual([...coresIn('0-2,12')], [0, 1, 2, 12]);
  assert.deepEqual([...coresIn('7')], [7]);
  assert.deepEqual(coreTimes(stat(100, 50), coresIn('0-1')), { cores: 2, busy: 2 * 126, all: 2 * 181 });
  // The list of allowed cores may have some that the machine lacks.
  assert.deepEqual(coreTimes(stat(100, 50), coresIn('12-127')), { cores: 1, busy: 300, all: 300 });
});

/** Two looks at cores that were busy for this part of the time. */
const busyFor = (cores: number, part: number): [CoreTimes, CoreTimes] => [
  { cores, busy: 1000, all: 5000 },
  { cores, busy: 1000 + 20 * cores * part, all: 5000 + 20 * cores },
];

test('the threads of others follow from how busy the cores are and how long a thread of ours waits', () => {
  // Only our own threads.
  assert.equal(othersOn(busyFor(2, 0.5), { ran: 1e9, waited: 0 }, 1, 99), 0);
  // Each core has one thread of another program, and ours gets two thirds of a core beside one of them.
  isNear(othersOn(busyFor(2, 1), { ran: 2e8, waited: 1e8 }, 1, 99), 2);
  // Each of any number of threads gets a fair share.
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 64 }), fc.nat(100), fc.integer({ min: 1, max: 9 }), (cores, more, own) => {
      const others = cores + more;
      const share = cores / (others + own);
      isNear(othersOn(busyFor(cores, 1), { ran: share, waited: 1 - share }, own, 1e6), others);
    }),
  );
});

test('others are at most the load of the last minute, and 0 if the times are not known', () => {
  assert.equal(othersOn(busyFor(2, 1), { ran: 1, waited: 8 }, 1, 1.25), 1.25);
  assert.equal(othersOn(busyFor(0, 0), { ran: 1, waited: 8 }, 1, 9), 0);
  assert.equal(othersOn(busyFor(2, 1), { ran: 0, waited: 0 }, 1, 9), 0);
});

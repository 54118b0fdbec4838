import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Member } from '@halogrid/ledger';
import fc from 'fast-check';
import { askEveryMs, leaseMs } from './lease-keeping.ts';
import { gapMs, graceMs, hear, isLongEnough, type Silence } from './silence.ts';

/** A member as the registry lists it at `nowMs`, with its last renewal at `renewedAtMs`. */
const told = (renewedAtMs: number, nowMs: number): Member => {
  const silentMs = nowMs - renewedAtMs;
  return { epoch: 1, holder: '1', isReleased: false, isOver: silentMs >= leaseMs, renewedAtMs, silentMs };
};

/**
 * The silence of a member that last renewed at 0, after answers at these times; 'failed' is a look without an answer of
 * the registry.
 */
function silenceAfter(looks: readonly (number | 'failed')[]): Silence | undefined {
  let silences: ReadonlyMap<number, Silence> = new Map();
  let lastMs = Number.NEGATIVE_INFINITY;
  let hasFailed = false;
  for (const look of looks) {
    if (look === 'failed') hasFailed = true;
    else {
      silences = hear(silences, [told(0, look)], { sinceMs: look - lastMs, hasFailed });
      [lastMs, hasFailed] = [look, false];
    }
  }
  return silences.get(1);
}

const cases: [what: string, looks: (number | 'failed')[], heardMs: number, isBroken: boolean][] = [
  ['what was before the first answer counts nothing', [9_000], 0, false],
  ['… but that the registry was asked in vain is known', ['failed', 9_000], 0, true],
  ['answers in a row count in full', [100, 1_100, 2_200], 2_100, false],
  ['a gap counts as one interval', [100, 100 + gapMs + 1], askEveryMs, true],
  ['… however long it is', [100, 600_000], askEveryMs, true],
  ['… and however short, where the registry was asked in vain', [100, 'failed', 700], 600, true],
  ['what is broken stays so', [100, 'failed', 1_100, 2_100, 3_100], 3_000, true],
];
for (const [what, looks, heardMs, isBroken] of cases) {
  test(`heard: ${what}`, () => assert.deepEqual(silenceAfter(looks), { renewedAtMs: 0, heardMs, isBroken }));
}

test('a renewal ends a silence, and the next counts from it', () => {
  const before = new Map([[1, { renewedAtMs: 0, heardMs: 4_000, isBroken: true }]]);
  const next = (sinceMs: number, hasFailed = false) =>
    hear(before, [told(9_000, 9_700)], { sinceMs, hasFailed }).get(1);
  assert.deepEqual(next(1_000), { renewedAtMs: 9_000, heardMs: 700, isBroken: false });
  assert.deepEqual(next(300), { renewedAtMs: 9_000, heardMs: 300, isBroken: false });
  // The renewal may have been before the gap.
  assert.deepEqual(next(1_000, true), { renewedAtMs: 9_000, heardMs: 700, isBroken: true });
});

test('forgotten members are no longer known', () => {
  const before = new Map([[7, { renewedAtMs: 0, heardMs: 1, isBroken: false }]]);
  assert.deepEqual([...hear(before, [told(0, 1)], { sinceMs: 1, hasFailed: false }).keys()], [1]);
});

test('a silence is long enough after a lease, or after longer if the registry may have been unreachable', () => {
  for (const [isBroken, limitMs] of [
    [false, leaseMs],
    [true, graceMs],
  ] as const) {
    assert.equal(isLongEnough({ renewedAtMs: 0, heardMs: limitMs - 1, isBroken }), false);
    assert.equal(isLongEnough({ renewedAtMs: 0, heardMs: limitMs, isBroken }), true);
  }
});

/**
 * The latest time in milliseconds until a member is back: an attempt that hangs until it is given up, the pause, and
 * one more attempt (see postgres-registry.ts).
 */
const latestBackMs = 5_000 + askEveryMs + 5_000;
const pauses = fc.array(fc.integer({ min: 200, max: 1_500 }), { minLength: 200, maxLength: 200 });

test('a member that lost the registry too gets time to come back, however long the registry was unreachable', () => {
  const outage = fc.record({
    pauses,
    renewedAgoMs: fc.integer({ min: 0, max: askEveryMs + 200 }),
    awayMs: fc.integer({ min: 1_500, max: 60_000 }),
  });
  fc.assert(
    fc.property(outage, ({ pauses, renewedAgoMs, awayMs }) => {
      const [awayAtMs, lastMs] = [renewedAgoMs, renewedAgoMs + awayMs + latestBackMs];
      const looks: (number | 'failed')[] = [];
      let nowMs = 0;
      for (const pause of pauses) {
        looks.push(nowMs >= awayAtMs && nowMs < awayAtMs + awayMs ? 'failed' : nowMs);
        nowMs += pause;
        if (nowMs > lastMs) break;
      }
      const silence = silenceAfter(looks);
      assert.ok(!silence || !isLongEnough(silence), JSON.stringify({ looks, silence }));
    }),
  );
});

test('a member that is gone is found to be, on an idle machine after a lease, and on the busiest after so many answers', () => {
  fc.assert(
    fc.property(pauses, (pauses) => {
      const looks = [0];
      for (const pause of pauses) if (looks.at(-1)! < leaseMs) looks.push(looks.at(-1)! + pause);
      assert.ok(isLongEnough(silenceAfter(looks)!));
    }),
  );
  const busy = fc.array(fc.integer({ min: askEveryMs, max: 60_000 }), { minLength: graceMs / askEveryMs });
  fc.assert(
    fc.property(busy, (pauses) => {
      let nowMs = 0;
      assert.ok(isLongEnough(silenceAfter([0, ...pauses.map((pause) => (nowMs += pause))])!));
    }),
  );
});

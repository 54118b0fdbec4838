import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { askEveryMs, giveUpMs, keepLease, type LeaseEvent, type LeaseState, leaseMs } from './lease-keeping.ts';

const at = 1_000_000;
const standby: LeaseState = { kind: 'standby', askAtMs: at, why: 'it was so', epoch: 3 };
const leading: LeaseState = { kind: 'leading', epoch: 7, renewedMs: at - 900, askAtMs: at };
const lost: LeaseState = { kind: 'lost', epoch: 7, reason: 'It was so' };
const overdue: LeaseState = { ...leading, renewedMs: at - giveUpMs };
const leader = { holder: 'B', epoch: 8 };
const soon = at + askEveryMs;

const table: [string, LeaseState, LeaseEvent, LeaseState][] = [
  [
    'a standby that gets the lease leads, as of when it asked',
    standby,
    { kind: 'acquired', epoch: 9, askedMs: at - 50 },
    { kind: 'leading', epoch: 9, renewedMs: at - 50, askAtMs: soon },
  ],
  [
    'a standby says who leads',
    standby,
    { kind: 'occupied', leader },
    { kind: 'standby', askAtMs: soon, why: 'B leads', epoch: 8 },
  ],
  [
    'a leader may be gone when it is asked for',
    standby,
    { kind: 'occupied', leader: undefined },
    { kind: 'standby', askAtMs: soon, why: 'nobody leads for the moment', epoch: 3 },
  ],
  [
    'a standby says why it cannot ask, and goes on asking',
    standby,
    { kind: 'failed', error: 'No route' },
    { kind: 'standby', askAtMs: soon, why: 'No route', epoch: 3 },
  ],
  ['time alone changes nothing for a standby', standby, { kind: 'timePassed' }, standby],
  [
    'a renewal counts from when it was asked for',
    leading,
    { kind: 'renewed', askedMs: at - 20 },
    { kind: 'leading', epoch: 7, renewedMs: at - 20, askAtMs: soon },
  ],
  [
    'a renewal that fails is tried again',
    leading,
    { kind: 'failed', error: 'No route' },
    { ...leading, askAtMs: soon },
  ],
  [
    'a leader that cannot renew for too long gives up',
    overdue,
    { kind: 'failed', error: 'No route' },
    { kind: 'lost', epoch: 7, reason: 'The lease on the ledger could not be renewed for 180 s: No route' },
  ],
  [
    'also where nothing is heard at all',
    overdue,
    { kind: 'timePassed' },
    {
      kind: 'lost',
      epoch: 7,
      reason: 'The lease on the ledger could not be renewed for 180 s: the ledger does not answer',
    },
  ],
  [
    'a leader that was replaced says by whom',
    leading,
    { kind: 'fenced', leader },
    {
      kind: 'lost',
      epoch: 7,
      reason: 'Another coordinator has taken over from this one, which had epoch 7: B leads, with epoch 8',
    },
  ],
  [
    'or not, where the successor is gone already',
    leading,
    { kind: 'fenced', leader: undefined },
    { kind: 'lost', epoch: 7, reason: 'Another coordinator has taken over from this one, which had epoch 7' },
  ],
];

for (const [name, state, event, expected] of table) {
  test(name, () => assert.deepEqual(keepLease(state, event, at), expected));
}

test('lost leadership stays lost, for the first reason', () => {
  const events: LeaseEvent[] = [
    { kind: 'renewed', askedMs: at },
    { kind: 'fenced', leader },
    { kind: 'failed', error: 'No route' },
    { kind: 'ended', reason: 'The ledger is damaged' },
    { kind: 'timePassed' },
  ];
  for (const event of events) assert.deepEqual(keepLease(lost, event, at + giveUpMs), lost);
});

test('a lease survives any three failed renewals in a row', () => {
  assert.ok(4 * askEveryMs < leaseMs);
});

test('with any answers, a leader without a renewal for giveUpMs has given up by its next question', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5000), { maxLength: 40 }), (pauses) => {
      let state: LeaseState = leading;
      let nowMs = at;
      for (const pause of [...pauses, giveUpMs]) {
        nowMs += pause;
        state = keepLease(state, { kind: 'failed', error: 'No route' }, nowMs);
        assert.equal(state.kind, nowMs - leading.renewedMs < giveUpMs ? 'leading' : 'lost');
      }
    }),
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Member, SharedJob, SharedView } from '@halogrid/ledger';
import fc from 'fast-check';
import { chooseAdoptions } from './choose-adoptions.ts';
import { giveUpMs, leaseMs } from './lease-keeping.ts';
import { graceMs, type Silence } from './silence.ts';

const alive = (epoch: number): Member => {
  return { epoch, holder: `${epoch}`, isReleased: false, isOver: false, renewedAtMs: 0, silentMs: 500 };
};
const over = (epoch: number, silentMs = leaseMs): Member => ({ ...alive(epoch), isOver: true, silentMs });
const released = (epoch: number): Member => ({ ...alive(epoch), isReleased: true });

const heard: Silence = { renewedAtMs: 0, heardMs: leaseMs, isBroken: false };
/** The same silence for all members. */
const allAs = (members: Member[], silence: Silence) => new Map(members.map(({ epoch }) => [epoch, silence]));

const job = (jobId: string, leader: number | undefined): SharedJob => {
  return { jobId, leader, epoch: 1, writes: 1, isCancelled: false, now: '' };
};

const names = (members: Member[], jobs: SharedJob[], silence: Silence): string[] =>
  chooseAdoptions({ members, jobs, questions: [] }, 2, allAs(members, silence)).map(({ jobId }) => jobId);

const justBegan: Silence = { ...heard, heardMs: leaseMs - 1 };
const wasAway: Silence = { ...heard, heardMs: graceMs, isBroken: true };
const cases: [what: string, members: Member[], leaders: (number | undefined)[], adopted: string[], as?: Silence][] = [
  ['one that is alone and led nothing before', [alive(2)], [], []],
  ['its own jobs are not taken over', [alive(2)], [2, 2], []],
  ['jobs of a member that is there are left to it', [alive(1), alive(2)], [1, 1], []],
  ['jobs that have ended are led by nobody', [alive(2)], [undefined], []],
  ['jobs of a member whose lease is over', [over(1), alive(2)], [1, 2, 1], ['0', '2']],
  ['jobs of a member that gave them up, at once', [released(1), alive(2)], [1], ['0'], justBegan],
  ['jobs of a member that is forgotten', [alive(2)], [1], ['0'], justBegan],
  ['a member that looks since a moment waits for the others', [over(1), alive(2)], [1], [], justBegan],
  ['… and after the registry was away, for longer', [over(1), alive(2)], [1], [], { ...wasAway, heardMs: graceMs - 1 }],
  ['… but not forever', [over(1), alive(2)], [1], ['0'], wasAway],
  ['… nor for one that has given up', [over(1, giveUpMs + leaseMs), alive(2)], [1], ['0'], justBegan],
  ['two divide them, from the one that came first', [over(1), alive(2), alive(3)], [1, 1, 1], ['0', '2']],
  ['who leads fewer takes more', [over(1), alive(2), alive(3)], [1, 2, 2, 1, 1], ['4']],
  ['one whose lease is over takes none, and so leaves none', [over(1), alive(2), over(3)], [1, 1], ['0', '1']],
  ['while the registry stood still all leases ended, and this one is not renewed yet', [over(1), over(2)], [1], []],
  ['a member that is fenced takes nothing', [over(1), released(2)], [1], []],
  ['a member that knows nothing of itself takes nothing', [over(1)], [1], []],
];

for (const [what, members, leaders, adopted, silence = heard] of cases) {
  test(`adopted: ${what}`, () => {
    assert.deepEqual(
      names(
        members,
        leaders.map((leader, i) => job(`${i}`, leader)),
        silence,
      ),
      adopted,
    );
  });
}

test('members that see the same view take every orphan once, and end up with equally many jobs if they began so', () => {
  const view = fc
    .record({
      living: fc.integer({ min: 1, max: 5 }),
      leaders: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
    })
    .map(({ living, leaders }): SharedView & { living: number } => {
      const members = Array.from({ length: 10 }, (_, i) => (i < living ? alive(i) : over(i)));
      return { living, members, questions: [], jobs: leaders.map((leader, i) => job(`${i}`, leader)) };
    });
  fc.assert(
    fc.property(view, ({ living, members, jobs }) => {
      const leads = Array.from({ length: living }, (_, own) => {
        const before = jobs.filter(({ leader }) => leader === own).length;
        const view = { members, jobs, questions: [] };
        const adopted = chooseAdoptions(view, own, allAs(members, heard)).map(({ jobId }) => jobId);
        return { before, adopted };
      });
      const adopted = leads.flatMap((led) => led.adopted);
      const orphans = jobs.filter(({ leader }) => leader! >= living).map(({ jobId }) => jobId);
      assert.deepEqual(adopted.toSorted(), orphans.toSorted());
      // A member that took jobs has at most one job more than any other.
      const sums = leads.map((led) => led.before + led.adopted.length);
      for (const [own, led] of leads.entries()) {
        if (led.adopted.length > 0) assert.ok(sums[own]! <= Math.min(...sums) + 1);
      }
    }),
  );
});

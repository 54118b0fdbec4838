import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Member, SharedJob, SharedView } from '../registry/job-shares.ts';
import { chooseAdoptions } from './choose-adoptions.ts';
import { giveUpMs, leaseMs } from './lease-keeping.ts';

const alive = (epoch: number): Member => {
  return { epoch, holder: `${epoch}`, isReleased: false, isOver: false, silentMs: 500, leadsForMs: 60_000 };
};
const over = (epoch: number, silentMs = leaseMs): Member => ({ ...alive(epoch), isOver: true, silentMs });
const released = (epoch: number): Member => ({ ...alive(epoch), isReleased: true });
const justBegan = (epoch: number): Member => ({ ...alive(epoch), leadsForMs: leaseMs - 1 });

const job = (jobId: string, leader: number | undefined): SharedJob => {
  return { jobId, leader, epoch: 1, writes: 1, isCancelled: false, now: '' };
};

const names = (members: Member[], jobs: SharedJob[], own = 2): string[] =>
  chooseAdoptions({ members, jobs, questions: [] }, own).map(({ jobId }) => jobId);

const cases: [what: string, members: Member[], leaders: (number | undefined)[], adopted: string[]][] = [
  ['one that is alone and led nothing before', [alive(2)], [], []],
  ['its own jobs are not taken over', [alive(2)], [2, 2], []],
  ['jobs of a member that is there are left to it', [alive(1), alive(2)], [1, 1], []],
  ['jobs that have ended are led by nobody', [alive(2)], [undefined], []],
  ['jobs of a member whose lease is over', [over(1), alive(2)], [1, 2, 1], ['0', '2']],
  ['jobs of a member that gave them up, at once', [released(1), justBegan(2)], [1], ['0']],
  ['jobs of a member that is forgotten', [justBegan(2)], [1], ['0']],
  ['a member that leads since a moment waits for the others', [over(1), justBegan(2)], [1], []],
  ['but for one that nobody waits for', [over(1, giveUpMs + leaseMs), justBegan(2)], [1], ['0']],
  ['two divide them, from the one that came first', [over(1), alive(2), alive(3)], [1, 1, 1], ['0', '2']],
  ['who leads fewer takes more', [over(1), alive(2), alive(3)], [1, 2, 2, 1, 1], ['4']],
  ['one whose lease is over takes none, and so leaves none', [over(1), alive(2), over(3)], [1, 1], ['0', '1']],
  ['while the store stood still all leases ended, and this one is not renewed yet', [over(1), over(2)], [1], []],
  ['a member that is fenced takes nothing', [over(1), released(2)], [1], []],
  ['a member that knows nothing of itself takes nothing', [over(1)], [1], []],
];

for (const [what, members, leaders, adopted] of cases) {
  test(`adopted: ${what}`, () => {
    assert.deepEqual(
      names(
        members,
        leaders.map((leader, i) => job(`${i}`, leader)),
      ),
      adopted,
    );
  });
}

test('members that see the same take every orphan once, and equally many jobs lead to equally many', () => {
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
        const adopted = chooseAdoptions({ members, jobs, questions: [] }, own).map(({ jobId }) => jobId);
        return { before, adopted };
      });
      const adopted = leads.flatMap((led) => led.adopted);
      const orphans = jobs.filter(({ leader }) => leader! >= living).map(({ jobId }) => jobId);
      assert.deepEqual(adopted.toSorted(), orphans.toSorted());
      // Nobody who took some has more than one job more than anybody else.
      const sums = leads.map((led) => led.before + led.adopted.length);
      for (const [own, led] of leads.entries()) {
        if (led.adopted.length > 0) assert.ok(sums[own]! <= Math.min(...sums) + 1);
      }
    }),
  );
});

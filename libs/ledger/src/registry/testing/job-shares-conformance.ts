import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually, pause } from '@halogrid/testing';
import type { Adopted, JobShares, SharedView } from '../job-shares.ts';
import { FencedError, type JobChange, type LogMark, type Registry } from '../registry.ts';
import { begin, note, type OpenSame, statuses } from './registry-conformance.ts';

const longMs = 600_000;

type SharedRegistry = Registry & { shares: JobShares };

/** A member of the registry. */
interface Led {
  registry: SharedRegistry;
  epoch: number;
}

/** Tests that a registry which several coordinators lead does what `JobShares` promises. */
export function jobSharesConformance(
  name: string,
  makeDatabase: (t: TestContext) => Promise<OpenSame>,
  options: { skip?: string | false } = {},
): void {
  const check = (what: string, act: (join: (leaseMs?: number) => Promise<Led>) => Promise<void>) =>
    test(`${name}: ${what}`, options, async (t) => {
      const open = await makeDatabase(t);
      const opened: Registry[] = [];
      const join = async (leaseMs = longMs): Promise<Led> => {
        const registry = await open();
        opened.push(registry);
        const epoch = (await registry.acquire(`coordinator ${opened.length}`, leaseMs))!;
        return { registry: registry as SharedRegistry, epoch };
      };
      try {
        await act(join);
      } finally {
        for (const registry of opened) await registry.close();
      }
    });

  check('every member leads, with its own epoch, and keeps its lease', async (join) => {
    const [a, b] = [await join(), await join()];
    assert.ok(b.epoch > a.epoch);
    assert.equal(await a.registry.renew(a.epoch, longMs), true);
    assert.equal(await b.registry.renew(b.epoch, longMs), true);
    assert.deepEqual(await a.registry.leader(), { holder: 'coordinator 2', epoch: b.epoch });
    const { members } = await look(a);
    assert.deepEqual(
      members.map(({ epoch, holder, isOver, isReleased }) => ({ epoch, holder, isOver, isReleased })),
      [
        { epoch: a.epoch, holder: 'coordinator 1', isOver: false, isReleased: false },
        { epoch: b.epoch, holder: 'coordinator 2', isOver: false, isReleased: false },
      ],
    );
  });

  check('the member that first writes a job leads it, and no other can write it', async (join) => {
    const [a, b] = [await join(), await join()];
    await a.registry.write(a.epoch, [begin('x', '0')]);
    await b.registry.write(b.epoch, [begin('y', '0')]);
    await assert.rejects(b.registry.write(b.epoch, [note('y', '1'), note('x', '1')]), FencedError);
    await assert.rejects(b.registry.write(b.epoch, [note('y', '1'), begin('x', '1')]), FencedError);
    await assert.rejects(b.registry.write(b.epoch, [{ kind: 'end', jobId: 'x', status: '1' }]), FencedError);
    await assert.rejects(b.registry.write(b.epoch, [{ kind: 'remove', jobId: 'x' }]), FencedError);
    assert.deepEqual(await statuses(a.registry), { x: '0', y: '0' });
    assert.deepEqual(await leaders(b), { x: a.epoch, y: b.epoch });
    const before = (await look(b)).jobs[0]!.writes;
    await a.registry.write(a.epoch, [note('x', '1')]);
    assert.ok((await look(b)).jobs[0]!.writes > before);
  });

  check('if many members write one job at once, one of them leads it', async (join) => {
    const members = await Promise.all([join(), join(), join(), join()]);
    const written = await Promise.allSettled(
      members.map(({ registry, epoch }) => registry.write(epoch, [begin('x', String(epoch))])),
    );
    assert.equal(written.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.deepEqual(Object.keys(await statuses(members[0]!.registry)), ['x']);
  });

  check('a job that has ended is led by nobody, and is gone with its last entry', async (join) => {
    const [a, b] = [await join(), await join()];
    await a.registry.write(a.epoch, [begin('x', '0'), begin('y', '0')]);
    const end: JobChange[] = [note('x', '8'), { kind: 'end', jobId: 'x', status: '9' }];
    await a.registry.write(a.epoch, end);
    assert.deepEqual(await leaders(b), { x: undefined, y: a.epoch });
    // If the answer to a transaction is lost, the transaction is made again.
    await a.registry.write(a.epoch, end);
    assert.deepEqual(await leaders(b), { x: undefined, y: a.epoch });
    assert.deepEqual(await statuses(b.registry), { x: '9', y: '0' });
    await b.registry.write(b.epoch, [{ kind: 'remove', jobId: 'x' }]);
    assert.deepEqual(await leaders(a), { y: a.epoch });
    assert.deepEqual(await statuses(a.registry), { y: '0' });
  });

  check(
    'jobs of a member whose lease is over are adopted once, and the member can write nothing more',
    async (join) => {
      const [a, b, c] = [await join(1), await join(), await join()];
      await a.registry.write(a.epoch, [begin('x', '0'), begin('y', '0'), begin('z', '0')]);
      await over(b, a.epoch);
      const orphans = [
        { jobId: 'x', leader: a.epoch },
        { jobId: 'y', leader: a.epoch },
      ];
      const taken = await Promise.all([adopt(b, orphans), adopt(c, orphans)]);
      const adopted = taken.flat();
      assert.deepEqual(adopted.map(({ jobId }) => jobId).sort(), ['x', 'y']);
      for (const { epoch } of adopted) assert.ok(epoch > c.epoch);
      await assert.rejects(a.registry.write(a.epoch, [note('x', '1')]), FencedError);
      // It cannot write jobs that were not adopted either, because it counts as gone.
      await assert.rejects(a.registry.write(a.epoch, [note('z', '1')]), FencedError);
      await assert.rejects(a.registry.write(a.epoch, [begin('new', '1')]), FencedError);
      assert.equal(await a.registry.renew(a.epoch, longMs), false);
      const [winner] = taken[0]!.length > 0 ? [b] : [c];
      await winner.registry.write(winner.epoch, [note('x', '2')]);
      assert.deepEqual(await statuses(b.registry), { x: '2', y: '0', z: '0' });
    },
  );

  check('a member whose lease is not over keeps its jobs, even if another tries to adopt them', async (join) => {
    const [a, b] = [await join(), await join()];
    await a.registry.write(a.epoch, [begin('x', '0')]);
    assert.deepEqual(await adopt(b, [{ jobId: 'x', leader: a.epoch }]), []);
    await a.registry.write(a.epoch, [note('x', '1')]);
    assert.deepEqual(await adopt(b, [{ jobId: 'x', leader: b.epoch }]), []);
  });

  check('a fenced member adopts nothing', async (join) => {
    const [a, b, c] = [await join(1), await join(1), await join()];
    await a.registry.write(a.epoch, [begin('x', '0')]);
    await over(c, b.epoch);
    await c.registry.release(b.epoch);
    assert.deepEqual(await adopt(b, [{ jobId: 'x', leader: a.epoch }]), []);
    assert.equal((await adopt(c, [{ jobId: 'x', leader: a.epoch }])).length, 1);
  });

  check('a lease that is renewed after it was over goes on, and all members see the renewal', async (join) => {
    const [a, b] = [await join(1), await join()];
    await over(b, a.epoch);
    const [before] = (await look(b)).members;
    assert.equal((await look(b)).members[0]!.renewedAtMs, before!.renewedAtMs);
    assert.equal(await a.registry.renew(a.epoch, longMs), true);
    const [renewed] = (await look(b)).members;
    assert.equal(renewed!.isOver, false);
    assert.ok(renewed!.renewedAtMs > before!.renewedAtMs);
    await a.registry.write(a.epoch, [begin('x', '0')]);
  });

  check('all members see what a leader says about its jobs, and that a job is to end', async (join) => {
    const [a, b] = [await join(), await join()];
    await a.registry.write(a.epoch, [begin('x', '0'), begin('y', '0')]);
    const text = JSON.stringify({ waiting: 'ä ‘ \\ "' });
    await look(a, { x: text });
    await look(b, { x: 'not b’s to say' });
    await b.registry.shares.cancel('y');
    await b.registry.shares.cancel('unknown');
    const { jobs } = await look(b);
    assert.deepEqual(
      jobs.map(({ jobId, now, isCancelled }) => ({ jobId, now, isCancelled })),
      [
        { jobId: 'x', now: text, isCancelled: false },
        { jobId: 'y', now: '', isCancelled: true },
      ],
    );
  });

  check(
    'all members see a question until it is answered, and the member that asked gets the first answer',
    async (join) => {
      const [a, b] = [await join(), await join()];
      const id = await a.registry.shares.ask('x', 'how?');
      const other = await a.registry.shares.ask('y', 'why?');
      assert.notEqual(id, other);
      const asked = { id, jobId: 'x', what: 'how?' };
      for (const member of [a, b]) {
        assert.deepEqual((await look(member)).questions, [asked, { id: other, jobId: 'y', what: 'why?' }]);
      }
      assert.equal(await a.registry.shares.takeAnswer(id), undefined);
      const text = JSON.stringify({ it: 'ä ‘ \\ "', large: 'x'.repeat(100_000) });
      await b.registry.shares.answer(id, text);
      await b.registry.shares.answer(id, 'later');
      assert.deepEqual(
        (await look(b)).questions.map(({ what }) => what),
        ['why?'],
      );
      assert.equal(await a.registry.shares.takeAnswer(id), text);
      assert.equal(await a.registry.shares.takeAnswer(id), undefined);
      await b.registry.shares.answer(id, 'too late');
      assert.equal(await a.registry.shares.takeAnswer(id), undefined);
    },
  );

  check('while members come, go and take over, each write is by the member that led the job then', async (join) => {
    const first = await join(5);
    await first.registry.write(first.epoch, [begin('x', '0')]);
    const writes: LogMark[] = [];
    const live = async (): Promise<void> => {
      const self = await join(5);
      // The epoch grows for each member that looks. Looks of several members may be answered in another order.
      let jobEpoch = 0;
      for (let round = 0; round < 20; round++) {
        await pause(2);
        await self.registry.renew(self.epoch, 5);
        const { members, jobs } = await look(self);
        const { leader, epoch } = jobs[0]!;
        assert.ok(epoch >= jobEpoch);
        jobEpoch = epoch;
        const isOver = members.some((member) => member.epoch === leader && (member.isOver || member.isReleased));
        if (isOver) await adopt(self, [{ jobId: 'x', leader: leader! }]);
        // If this write could still succeed, it would overwrite what another member wrote since.
        const marks = [...(await marksOf(self)), { epoch: self.epoch, bytes: round }];
        await self.registry.write(self.epoch, [{ ...note('x', ''), marks }]).then(
          () => writes.push(marks.at(-1)!),
          (error) => assert.ok(error instanceof FencedError, String(error)),
        );
      }
    };
    await Promise.all([live(), live(), live()]);
    assert.deepEqual(await marksOf(first), writes);
  });
}

const look = ({ registry, epoch }: Led, now: Record<string, string> = {}): Promise<SharedView> =>
  registry.shares.look(epoch, new Map(Object.entries(now)));

const adopt = ({ registry, epoch }: Led, orphans: { jobId: string; leader: number }[]): Promise<Adopted[]> =>
  registry.shares.adopt(epoch, orphans);

/** Resolves when the lease of that member is over. */
const over = (member: Led, epoch: number): Promise<boolean> =>
  eventually(`the end of the lease ${epoch}`, async () => {
    const { members } = await look(member);
    return members.find((other) => other.epoch === epoch)!.isOver;
  });

const leaders = async (member: Led): Promise<Record<string, number | undefined>> =>
  Object.fromEntries((await look(member)).jobs.map(({ jobId, leader }) => [jobId, leader]));

const marksOf = async ({ registry }: Led): Promise<readonly LogMark[]> =>
  (await Array.fromAsync(registry.jobs(['x'])))[0]!.marks;

import assert from 'node:assert/strict';
import { type TestOptions, test } from 'node:test';
import { readable } from '@halogrid/jobs/testing-planned';
import fc from 'fast-check';
import type { Ledger } from '../ledger/ledger.ts';
import { FencedError } from '../registry/registry.ts';
import { commitOf, comparable, expectedResults, jobId, oneCell, planOf, shardsOf, spec } from './ledger-scene.ts';

/** A process that has a ledger. */
export interface CrashingProcess {
  ledger: Ledger;
  /**
   * Crashes the process now: it never learns whether the transaction in flight was made. It is told that another
   * process leads, so that it releases its files as an ended process would.
   */
  crash(): void;
}

export interface CrashStage {
  /** Starts a process whose ledger takes over from the one before. */
  start(): Promise<CrashingProcess>;
  close(): Promise<void>;
}

/** Passes on the writes of a process until it crashes. */
export function crashingWrites<Change>(write: (epoch: number, changes: readonly Change[]) => Promise<void>) {
  let hasCrashed = false;
  const fenced = (epoch: number): FencedError => new FencedError(epoch, undefined);
  return {
    write: async (epoch: number, changes: readonly Change[]): Promise<void> => {
      if (hasCrashed) throw fenced(epoch);
      await write(epoch, changes);
      if (hasCrashed) throw fenced(epoch);
    },
    crash: () => {
      hasCrashed = true;
    },
  };
}

/**
 * Tests that ledgers over a registry survive crashes: only changes that were not acknowledged must be offered again.
 */
export function ledgerCrashes(
  name: string,
  setStage: () => Promise<CrashStage>,
  numRuns: number,
  options: TestOptions = {},
): void {
  test(`${name}: crashes lose nothing that was acknowledged, and change no result`, options, async () => {
    const side = fc.integer({ min: 1, max: 7 });
    const source = fc.record({ width: side, height: side, fate: fc.constantFrom('good', 'good', 'broken', 'unread') });
    const grid = fc.oneof(fc.constant(oneCell), fc.constant({ rows: 2, columns: 3 }));
    const job = fc.record({
      sources: fc.array(source, { minLength: 1, maxLength: 6 }),
      tilePx: side,
      batchFrames: fc.integer({ min: 1, max: 3 }),
      grid,
      /** Steps in each part of the plan. */
      planBy: fc.integer({ min: 1, max: 9 }),
      /** Before a command: nothing, a wait for all before it, or a crash. */
      turns: fc.infiniteStream(fc.constantFrom('go', 'go', 'wait', 'crash')),
      order: fc.infiniteStream(fc.nat()),
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ sources, tilePx, batchFrames, grid, planBy, turns, order }) => {
        const stage = await setStage();
        const broken = new Set(sources.keys().filter((i) => sources[i]!.fate === 'broken'));
        const unread = new Set(sources.keys().filter((i) => sources[i]!.fate === 'unread'));
        const steps = planOf(sources, tilePx, batchFrames, unread);
        const shards = shardsOf(steps);
        const acknowledged = new Set<number>();
        const attempts = new Map<number, number>();
        let { ledger, crash } = await stage.start();
        let crashes = 0;
        const waiting = new Set<Promise<unknown>>();
        const hear = (answer: Promise<unknown>): void => {
          const heard = answer.catch((error) =>
            assert.ok(
              [error, error.cause].some((its) => its instanceof FencedError),
              String(error),
            ),
          );
          waiting.add(heard);
          void heard.finally(() => waiting.delete(heard));
        };
        /** Acts like a coordinator after a crash: offers again the shards that are not done, and plans the rest. */
        const recover = async (): Promise<{ open: number[]; planned: number }> => {
          crash();
          await ledger.close();
          await Promise.all(waiting);
          crashes++;
          ({ ledger, crash } = await stage.start());
          if (!(await ledger.getJob(jobId))) {
            await ledger.createJob({ jobId, spec: { ...spec, grid }, submittedMs: 1 });
            return { open: [], planned: 0 };
          }
          const recorded = await Array.fromAsync(ledger.recordedPlan(jobId));
          assert.deepEqual(readable(recorded), readable(steps.slice(0, recorded.length)));
          const open = (await ledger.resume(jobId)).open.map(({ shard, attempts: before }) => {
            assert.ok(before <= (attempts.get(shard.shard) ?? 0));
            assert.deepEqual(
              readable([{ kind: 'shard', shard }]),
              readable([{ kind: 'shard', shard: shards[shard.shard]! }]),
            );
            return shard.shard;
          });
          for (const shard of acknowledged) assert.ok(!open.includes(shard), `shard ${shard} was lost`);
          return { open, planned: recorded.length };
        };
        let { open, planned } = await recover();
        for (;;) {
          const turn = crashes < 12 ? turns.next().value! : 'go';
          if (turn === 'crash') ({ open, planned } = await recover());
          if (turn === 'wait') await Promise.all(waiting);
          if (planned < steps.length) {
            const part = steps.slice(planned, planned + planBy);
            planned += part.length;
            hear(ledger.addPlan(jobId, part, false));
            open.push(...shardsOf(part).map(({ shard }) => shard));
          } else if (open.length > 0) {
            const [shard] = open.splice(order.next().value! % open.length, 1);
            const attempt = (attempts.get(shard!) ?? 0) + 1;
            attempts.set(shard!, attempt);
            await ledger.addAttempt(jobId, shard!, attempt);
            const answer = commitOf(shards[shard!]!, steps, broken, grid);
            const commit = { ...answer, attempt, epoch: ledger.epochOf(jobId) };
            hear(
              ledger.commit(commit).then((answer) => {
                assert.equal(answer, 'committed');
                acknowledged.add(shard!);
              }),
            );
            if (order.next().value! % 3 === 0) hear(ledger.commit(commit).then((a) => assert.equal(a, 'duplicate')));
          } else {
            await Promise.all(waiting);
            if (turn === 'go') break;
          }
        }
        await ledger.addPlan(jobId, [], true);
        assert.deepEqual(await comparable(ledger, grid), expectedResults(sources, grid));
        const { counts } = (await ledger.getJob(jobId))!;
        assert.deepEqual([counts.shards, counts.shardsDone], [shards.length, shards.length]);
        await ledger.close();
        await stage.close();
      }),
      { numRuns },
    );
  });
}

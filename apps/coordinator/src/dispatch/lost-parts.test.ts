import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WantError } from '@halogrid/jobs/want-error';
import type { Withdrawn } from '@halogrid/ledger';
import { createLog } from '@halogrid/service/log';
import { LostPartError } from '../output/lost-part-error.ts';
import { atOnce } from '../output/output-wait.ts';
import { shard } from '../scheduler/testing/scheduler-cases.ts';
import { LostParts, mostLosses } from './lost-parts.ts';

/**
 * A job whose shards were answered by these nodes (undefined: the coordinator). The parts of the shards in `missing`
 * are gone.
 */
function stage(nodes: readonly (string | undefined)[], missing: readonly number[] = []) {
  const warnings: string[] = [];
  /** Shards that are not done: they have no answer to withdraw. */
  const open = new Set<number>();
  const withdraw = async (_jobId: string, number: number): Promise<Withdrawn | undefined> => {
    if (open.has(number)) return undefined;
    const node = nodes[number];
    return { open: { shard: shard(number), attempts: 1 }, ...(node !== undefined && { node }), planned: 9, kept: 0 };
  };
  const parts = new LostParts({
    jobId: 'job',
    spec: { out: 'file:///out' },
    until: atOnce,
    lostShards: async () => missing,
    ledger: { withdraw, answered: () => assert.fail('Nobody asks') },
    log: createLog('test', 'warn', { lines: { write: (line) => warnings.push(JSON.parse(line).msg) } }),
  });
  return { parts, open, warnings };
}

const lost = (shard: number | undefined, isFalse = false) =>
  new LostPartError({ message: 'The part is gone', shard, isFalse });

test('a shard is withdrawn with all others whose parts are missing, and the node of this one alone is blamed', async () => {
  const { parts, warnings } = stage(['a', 'b', undefined], [0, 1, 2]);
  const withdrawn = await parts.withdraw(lost(1, true));
  const said = withdrawn.map(({ withdrawn: { open }, inVain, isMet, isFalse }) => {
    return [open.shard.shard, inVain, isMet, isFalse];
  });
  assert.deepEqual(said, [
    [1, ['b'], true, true],
    [0, ['a'], false, false],
    [2, ['the coordinator'], false, false],
  ]);
  assert.deepEqual(warnings, ['The part is gone; its shard is computed again, and 2 others whose parts are not there']);
});

test('a withdrawn shard is not withdrawn again', async () => {
  const { parts, open, warnings } = stage(['a', 'b'], [1]);
  open.add(0);
  assert.deepEqual(
    (await parts.withdraw(lost(0))).map(({ inVain }) => inVain),
    [['b']],
  );
  open.add(1);
  assert.deepEqual(await parts.withdraw(lost(0)), []);
  assert.deepEqual(warnings, ['The part is gone; its shard is computed again']);
});

test('a shard whose results are lost too often fails the job, which says all that wrote them', async () => {
  const nodes = ['a'];
  const { parts } = stage(nodes);
  for (let times = 1; times < mostLosses; times++) {
    const [{ inVain } = { inVain: [] }] = await parts.withdraw(lost(0));
    assert.equal(inVain.length, times);
    nodes[0] = 'b';
  }
  await assert.rejects(parts.withdraw(lost(0)), (error: Error) => {
    assert.ok(error instanceof WantError);
    assert.match(
      error.message,
      /^Results of one shard were lost 4 times, written by a, b: The part is gone; see to it/,
    );
    return true;
  });
});

test('a part that no shard can make again fails the job', async () => {
  const { parts } = stage([]);
  await assert.rejects(parts.withdraw(lost(undefined)), {
    message: 'The part is gone; the results in it are lost: run the job again',
  });
});

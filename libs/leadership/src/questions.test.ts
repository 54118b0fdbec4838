import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedMemoryRegistry, SharesMemory } from '@halogrid/ledger/testing-shared-memory-registry';
import { turns } from '@halogrid/testing';
import { Questions } from './questions.ts';

/** Two coordinators of a registry, and a clock that the test moves. */
function setStage() {
  const { shares } = new SharedMemoryRegistry(new SharesMemory(), () => 0);
  let nowMs = 0;
  const waiting: { untilMs: number; resolve: () => void }[] = [];
  let isAlone = false;
  const join = () =>
    new Questions({
      shares,
      pause: (ms) => new Promise<void>((resolve) => waiting.push({ untilMs: nowMs + ms, resolve })),
      isAlone: () => isAlone,
    });
  const pass = async (ms: number): Promise<void> => {
    for (const endMs = nowMs + ms; nowMs < endMs; await turns(5)) {
      nowMs += 50;
      for (const { untilMs, resolve } of waiting) if (untilMs <= nowMs) resolve();
    }
  };
  const open = async () => (await shares.look(0, new Map())).questions;
  const leaveAlone = () => {
    isAlone = true;
  };
  return { asker: join(), leader: join(), shares, pass, open, leaveAlone };
}

test('the coordinator that knows the answer gives it, once for all that ask the same meanwhile', async () => {
  const { asker, leader, pass, open } = setStage();
  const asked: string[] = [];
  leader.answerBy(async (jobId, what) => {
    asked.push(`${what} of ${jobId}`);
    return jobId === 'known' ? 'so' : undefined;
  });
  const both = Promise.all([asker.ask('known', 'speed', false), asker.ask('known', 'speed', false)]);
  const other = asker.ask('unknown', 'speed', true);
  await pass(100);
  // The member that asks looks at questions too.
  for (const member of [asker, leader]) await member.reply(await open());
  await pass(100);
  assert.deepEqual(await both, ['so', 'so']);
  await pass(2000);
  assert.equal(await other, undefined);
  assert.deepEqual(asked, ['speed of known', 'speed of unknown']);
});

test('no caller waits for a coordinator that does not answer, or does not exist', async () => {
  const { asker, shares, pass, leaveAlone } = setStage();
  const silent = asker.ask('x', 'speed', false);
  shares.ask = () => new Promise(() => {});
  const hanging = asker.ask('y', 'speed', false);
  await pass(5100);
  assert.deepEqual([await silent, await hanging], [undefined, undefined]);
  shares.ask = () => Promise.reject(new Error('No route'));
  assert.equal(await asker.ask('x', 'speed', false), undefined);
  // A second caller with the same question gets the same answer.
  const both = [asker.ask('x', 'speed', false), asker.ask('x', 'speed', false)];
  assert.deepEqual(await Promise.all(both), [undefined, undefined]);
  leaveAlone();
  shares.ask = () => assert.fail();
  assert.equal(await asker.ask('x', 'speed', false), undefined);
});

test('a question that takes long to answer is answered once, and one without an answer is left', async () => {
  const { leader, shares, open } = setStage();
  const answer = Promise.withResolvers<string>();
  let asked = 0;
  leader.answerBy(() => {
    asked++;
    return answer.promise;
  });
  const id = await shares.ask('x', 'speed');
  const replies = [leader.reply(await open()), leader.reply(await open())];
  answer.resolve('so');
  await Promise.all(replies);
  assert.deepEqual([asked, await shares.takeAnswer(id)], [1, 'so']);
  leader.answerBy(() => Promise.reject(new Error('It is away')));
  await shares.ask('y', 'speed');
  await leader.reply(await open());
  assert.equal((await open()).length, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswerPart, maxCountsBytes, ShardCompleted } from '@halogrid/proto';
import { turns } from '@halogrid/testing';
import { Budget } from '@halogrid/threads';
import { AnswerParts } from './answer-parts.ts';

const lease = { jobId: 'j', shard: 1, attempt: 1, epoch: 4 };
const partOf = (number: number, total: number, more: Partial<AnswerPart> = {}): AnswerPart => {
  return { ...lease, number, total, counts: Uint8Array.of(number), ...more };
};
const completedWith = (parts: number, more: Partial<ShardCompleted> = {}): ShardCompleted =>
  ShardCompleted.fromPartial({ ...lease, parts, counts: Uint8Array.of(0), ...more });

function listen() {
  const heard: string[] = [];
  const listener = {
    wait: () => heard.push('wait'),
    goOn: () => heard.push('go on'),
    stillWaiting: () => heard.push('still waiting'),
  };
  return { heard, listener };
}

const create = (memory = new Budget(2 ** 30)) => new AnswerParts(memory, 60_000, listen().listener);

test('the counts of an answer come from its parts and its last message, and the next answer begins again', () => {
  const parts = create();
  for (const shard of [1, 2]) {
    parts.add(partOf(1, 2, { shard }));
    parts.add(partOf(2, 2, { shard }));
    assert.deepEqual(
      parts.take(completedWith(2, { shard })).map(([first]) => first),
      [1, 2, 0],
    );
  }
  assert.deepEqual(parts.take(completedWith(0)).length, 1);
  assert.deepEqual(parts.take(ShardCompleted.fromPartial(lease)), []);
});

const refused: [name: string, say: (parts: AnswerParts) => unknown, sentence: RegExp][] = [
  ['a second part first', (parts) => parts.add(partOf(2, 2)), /Expected 1 for part.number but received '2'/],
  ['a part again', (parts) => [partOf(1, 2), partOf(1, 2)].map((part) => parts.add(part)), /Expected 2 .* '1'/],
  ['a part too many', (parts) => [1, 2].map((n) => parts.add(partOf(n, 1))), /Expected completed after all parts/],
  ['no parts in all', (parts) => parts.add(partOf(1, 0)), /Expected 1 to 320 for part.total but received '0'/],
  ['endless parts', (parts) => parts.add(partOf(1, 321)), /Expected 1 to 320 for part.total but received '321'/],
  ['another total', (parts) => [partOf(1, 3), partOf(2, 4)].map((part) => parts.add(part)), /parts of two/],
  [
    'an answer before its last part',
    (parts) => [parts.add(partOf(1, 2)), parts.take(completedWith(1))],
    /parts of two/,
  ],
  ['an answer that names fewer', (parts) => [parts.add(partOf(1, 1)), parts.take(completedWith(0))], /Expected 1 as/],
  ['an answer that names parts which never came', (parts) => parts.take(completedWith(1)), /Expected 0 as they came/],
  ...(['jobId', 'shard', 'attempt', 'epoch'] as const).map((field): (typeof refused)[number] => [
    `a part of another ${field}`,
    (parts) => [partOf(1, 2), partOf(2, 2, { [field]: 9 })].map((part) => parts.add(part)),
    /Expected all parts of one answer before the next answer but received parts of two/,
  ]),
];
for (const [name, say, message] of refused) {
  test(`${name} is refused`, () => {
    assert.throws(() => say(create()), { name: 'Refusal', message });
  });
}

test('while there is no room for its answer, a node is not read but counts as alive; it goes on when there is room', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const memory = new Budget(3 * maxCountsBytes);
  const [first, second] = [listen(), listen()];
  const [one, other] = [first, second].map(({ listener }) => new AnswerParts(memory, 900, listener)) as [
    AnswerParts,
    AnswerParts,
  ];
  one.add(partOf(1, 2));
  other.add(partOf(1, 2));
  await turns();
  assert.deepEqual([first.heard, second.heard], [['wait', 'go on'], ['wait']]);
  t.mock.timers.tick(650);
  assert.deepEqual(second.heard, ['wait', 'still waiting', 'still waiting']);
  one.add(partOf(2, 2));
  one.take(completedWith(2));
  await turns();
  t.mock.timers.tick(650);
  assert.deepEqual([memory.used, second.heard.slice(3)], [2 * maxCountsBytes, ['go on']]);
  other.drop();
  other.drop();
  assert.equal(memory.used, 0);
});

test('a node that is gone while it waits for room takes no room', async () => {
  const memory = new Budget(2 * maxCountsBytes);
  const [one, gone] = [create(memory), create(memory)];
  one.add(partOf(1, 2));
  gone.add(partOf(1, 2));
  await turns();
  gone.drop();
  one.drop();
  await turns();
  assert.equal(memory.used, 0);
});

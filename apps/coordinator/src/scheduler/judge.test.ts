import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from './judge.ts';

const candidate = (digest: string) => ({ answer: { digest, bytes: 0 } });

/**
 * Digests in the order of arrival, one letter each; the chosen digest and how many are outvoted, or why none is chosen.
 */
const table: [digests: string, needed: 1 | 2, verdict: string][] = [
  ['a', 1, 'a'],
  ['a', 2, 'open'],
  ['aa', 2, 'a'],
  ['aa', 1, 'a'],
  ['ab', 1, 'disputed'],
  ['ab', 2, 'disputed'],
  ['aba', 2, 'a, not 1'],
  ['abb', 2, 'b, not 1'],
  ['abc', 2, 'disputed'],
  ['abcb', 2, 'b, not 2'],
  ['abcd', 2, 'undecidable'],
];

for (const [digests, needed, expected] of table) {
  test(`answers ${[...digests].join(', ')} where ${needed} must agree: ${expected}`, () => {
    const verdict = judge([...digests].map(candidate), needed);
    const found = {
      chosen: () => {
        if (verdict.kind !== 'chosen') return '';
        const { length } = verdict.outvoted;
        return `${verdict.candidate.answer.digest}${length > 0 ? `, not ${length}` : ''}`;
      },
      open: () => (verdict.kind === 'open' && verdict.isDisputed ? 'disputed' : 'open'),
      undecidable: () => 'undecidable',
    }[verdict.kind]();
    assert.equal(found, expected);
  });
}

test('nothing is hashed if there is nothing to compare', () => {
  const answer = {
    bytes: 1,
    get digest(): string {
      throw new Error('It was hashed');
    },
  };
  assert.equal(judge([{ answer }], 1).kind, 'chosen');
  assert.equal(judge([{ answer }], 2).kind, 'open');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { maxKinds, maxReasons, QuarantineReasons } from './quarantine-reasons.ts';

const uriOf = (source: number): string => `file:///in/${source}`;

function reasonsOf(sources: readonly { source: number; stage: string; error: string }[]): QuarantineReasons {
  const reasons = new QuarantineReasons();
  for (const { source, ...reason } of sources) reasons.add(source, reason);
  return reasons;
}

test('sentences that differ in numbers are one reason: its first source gives the sentence and the example', () => {
  const reasons = reasonsOf([
    { source: 4, stage: 'read', error: 'gone' },
    { source: 9, stage: 'decode', error: 'ends at byte 7' },
    { source: 3, stage: 'decode', error: 'ends at byte 81' },
    { source: 5, stage: 'compute', error: 'ends at byte 81' },
  ]);
  assert.deepEqual(reasons.list(uriOf), [
    { stage: 'decode', error: 'ends at byte 81', inputs: 2, example: 'file:///in/3' },
    { stage: 'read', error: 'gone', inputs: 1, example: 'file:///in/4' },
    { stage: 'compute', error: 'ends at byte 81', inputs: 1, example: 'file:///in/5' },
  ]);
});

test('only URIs of sources that became examples are asked for', () => {
  const reasons = new QuarantineReasons();
  const examples = new Set<number>();
  for (const source of [5, 9, 2, 7]) if (reasons.add(source, { stage: 'read', error: 'gone' })) examples.add(source);
  assert.deepEqual([...examples], [5, 2]);
  reasons.list((source) => {
    assert.ok(examples.has(source));
    return uriOf(source);
  });
});

test('secrets in a URI are left out', () => {
  const [told] = reasonsOf([{ source: 0, stage: 'read', error: 'gone' }]).list(
    () => 'https://me:secret@host/a?key=hidden',
  );
  assert.match(told!.example, /^https:\/\/host\/a\?redacted-[0-9a-f]{8}$/);
});

test('a long sentence is cut to 1000 characters', () => {
  const [told] = reasonsOf([{ source: 0, stage: 'read', error: 'long '.repeat(1e6) }]).list(uriOf);
  assert.deepEqual([told!.error.length, told!.error.slice(-3)], [1000, 'ng…']);
});

/** A word for each kind, because sentences that differ in numbers are of one kind. */
const word = (kind: number): string => [...String(kind)].map((digit) => 'abcdefghij'[Number(digit)]).join('');

test('counts do not depend on the order of arrival, and the most frequent kinds are listed', () => {
  const kinds = fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 300 });
  const job = kinds.chain((of) =>
    fc.tuple(fc.constant(of), fc.shuffledSubarray([...of.keys()], { minLength: of.length })),
  );
  fc.assert(
    fc.property(job, ([kindsOf, order]) => {
      const list = reasonsOf(
        order.map((source) => ({ source, stage: 'read', error: `${source} is ${word(kindsOf[source]!)}` })),
      ).list(uriOf);
      const counted = new Map<number, { inputs: number; first: number }>();
      for (const [source, kind] of kindsOf.entries()) {
        const known = counted.get(kind);
        if (known) known.inputs++;
        else counted.set(kind, { inputs: 1, first: source });
      }
      const all = [...counted.entries()].sort(([, a], [, b]) => b.inputs - a.inputs || a.first - b.first);
      const isWhole = all.length <= maxReasons;
      const expected = all.slice(0, isWhole ? maxReasons : maxReasons - 1).map(([kind, { inputs, first }]) => {
        return { stage: 'read', error: `${first} is ${word(kind)}`, inputs, example: uriOf(first) };
      });
      if (!isWhole) {
        const rest = all.slice(maxReasons - 1).map(([, kind]) => kind);
        const inputs = rest.reduce((sum, kind) => sum + kind.inputs, 0);
        const example = uriOf(Math.min(...rest.map(({ first }) => first)));
        expected.push({ stage: '', error: 'Other reasons', inputs, example });
      }
      assert.deepEqual(list, expected);
    }),
  );
});

test('only maxKinds kinds are counted separately, and every input is counted', () => {
  const sources = Array.from({ length: 3 * maxKinds }, (_, source) => ({ source, stage: 'read', error: word(source) }));
  // The last kind that is still counted separately is the most frequent.
  const frequent = Array.from({ length: 5 }, (_, i) => ({
    source: 5000 + i,
    stage: 'read',
    error: word(maxKinds - 1),
  }));
  const list = reasonsOf([...sources, ...frequent]).list(uriOf);
  assert.deepEqual([list.length, list[0]!.inputs, list[0]!.error], [maxReasons, 6, word(maxKinds - 1)]);
  assert.equal(
    list.reduce((sum, { inputs }) => sum + inputs, 0),
    3 * maxKinds + 5,
  );
  assert.deepEqual(list.at(-1), {
    stage: '',
    error: 'Other reasons',
    inputs: 3 * maxKinds - (maxReasons - 1),
    example: uriOf(maxReasons - 2),
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type PreviewCandidate, PreviewChoice } from './preview-choice.ts';

const image = fc.record({ folder: fc.nat(4), file: fc.nat(30) }).map(({ folder, file }): PreviewCandidate => {
  return { uri: `file:///archive/${folder}/${file}.jpg` };
});
const frame = fc.record({ video: fc.nat(2), number: fc.nat(90) }).map(({ video, number }): PreviewCandidate => {
  return { uri: `file:///archive/${video}.mp4`, frame: number };
});
const keyOf = ({ uri, frame }: PreviewCandidate): string => `${uri} ${frame}`;
const archive = fc.uniqueArray(fc.oneof(image, frame), { selector: keyOf, maxLength: 120 });

/** Keys of the sources that are chosen at the end, and of all that were chosen for a time. */
function choose(sources: readonly PreviewCandidate[], choice = new PreviewChoice()) {
  const added = new Set(sources.filter((source, index) => choice.add(index, source)).map(keyOf));
  return { chosen: new Set([...choice.chosen].map((index) => keyOf(sources[index]!))), added };
}

test('the same 20 sources, or all, are chosen in any order, each already when it is added', () => {
  fc.assert(
    fc.property(archive, (sources) => {
      const { chosen, added } = choose(sources);
      assert.equal(chosen.size, Math.min(20, sources.length));
      assert.ok(chosen.isSubsetOf(added));
      assert.deepEqual(choose(sources.toReversed()).chosen, chosen);
    }),
  );
});

test('an archive that grows anywhere needs no preview of a source that had none', () => {
  fc.assert(
    fc.property(archive, fc.array(fc.boolean(), { minLength: 120, maxLength: 120 }), (sources, wasThere) => {
      const before = sources.filter((_, i) => wasThere[i]);
      const { chosen } = choose(before);
      const now = choose(sources).chosen;
      assert.ok(now.intersection(new Set(before.map(keyOf))).isSubsetOf(chosen));
      // If the earlier choice is expected, no other earlier source is chosen, not even for a time.
      const expecting = new PreviewChoice(before.filter((source) => chosen.has(keyOf(source))));
      const { added } = choose(sources, expecting);
      assert.ok(added.intersection(new Set(before.map(keyOf))).isSubsetOf(chosen));
      assert.ok(now.isSubsetOf(added));
    }),
  );
});

test('every folder has its share', () => {
  const uris = Array.from({ length: 5 }, (_, camera) =>
    Array.from({ length: 40 + 300 * camera }, (_, i) => ({ uri: `file:///archive/cam${camera}/${i}.jpg` })),
  ).flat();
  const { chosen } = choose(uris);
  for (let camera = 0; camera < 5; camera++) {
    assert.equal([...chosen].filter((key) => key.includes(`/cam${camera}/`)).length, 4);
  }
});

test('frames of a video lie at most as far apart as a ninth of it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 20, max: 3000 }),
      fc.nat(99),
      fc.integer({ min: 1, max: 30 }),
      (count, video, every) => {
        const choice = new PreviewChoice();
        for (let i = 0; i < count; i++) choice.add(i, { uri: `file:///${video}.mp4`, frame: 7 + i * every });
        const places = [-1, ...[...choice.chosen].sort((a, b) => a - b), count];
        const widest = Math.max(...places.slice(1).map((place, i) => place - places[i]!));
        assert.ok(widest <= count / 9 + 1, `${widest} of ${count}`);
      },
    ),
    { numRuns: 30 },
  );
});

test('few sources are chosen for a time and not at the end', () => {
  const sources = Array.from({ length: 10_000 }, (_, i) => ({ uri: `file:///archive/${i % 7}/${i}.jpg` }));
  assert.ok(choose(sources).added.size < 200);
});

test('a source that is added twice counts once, with its last index', () => {
  const choice = new PreviewChoice([{ uri: 'file:///a.jpg' }, { uri: 'file:///gone.jpg' }]);
  assert.deepEqual(choice.chosen, new Set());
  for (const index of [3, 5]) assert.ok(choice.add(index, { uri: 'file:///a.jpg' }));
  assert.deepEqual(choice.chosen, new Set([5]));
});

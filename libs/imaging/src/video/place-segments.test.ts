import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DecoderState, placeSegments, type WaitingSegment } from './place-segments.ts';

const packetMs = { cores: 8, hardware: 2 };
const anywhere = ['cores', 'hardware'] as const;
const segment = (packets: number, kinds: WaitingSegment['kinds'] = anywhere): WaitingSegment => ({ packets, kinds });
const free = (kind: DecoderState['kind'], freeInMs = 0): DecoderState => ({ kind, freeInMs, isFree: true });
const busy = (kind: DecoderState['kind'], freeInMs: number): DecoderState => ({ kind, freeInMs, isFree: false });

for (const [name, segments, decoders, expected] of [
  ['nothing waits', [], [free('cores')], []],
  ['the quicker of two that are free takes it', [segment(100)], [free('cores'), free('hardware')], [1]],
  [
    'starting hardware (1200 ms) is not worth a short one',
    [segment(100)],
    [free('cores'), free('hardware', 1200)],
    [0],
  ],
  ['it is where all cores are at work for long', [segment(100)], [busy('cores', 900), free('hardware', 1200)], [1]],
  [
    'waiting for hardware is better than 800 ms of a core',
    [segment(100)],
    [free('cores'), busy('hardware', 300)],
    [undefined],
  ],
  ['and worse where it is taken for longer', [segment(100)], [free('cores'), busy('hardware', 700)], [0]],
  [
    'a segment behind another waits for it',
    [segment(100), segment(100), segment(100), segment(100), segment(100)],
    [free('cores'), free('hardware')],
    [1, undefined, undefined, 0, undefined],
  ],
  [
    'a segment that hardware may not decode goes to cores',
    [segment(100, ['cores']), segment(100)],
    [free('cores'), free('hardware')],
    [0, 1],
  ],
  [
    'a segment for hardware alone waits for it',
    [segment(100, ['hardware'])],
    [free('cores'), busy('hardware', 9000)],
    [undefined],
  ],
  ['what nobody may decode is kept', [segment(100, ['hardware'])], [free('cores')], [undefined]],
] as const) {
  test(name, () => assert.deepEqual(placeSegments(segments, decoders, packetMs), expected));
}

const anyKind = fc.constantFrom('cores' as const, 'hardware' as const);
const anyState = fc.record({ kind: anyKind, freeInMs: fc.integer({ min: 0, max: 3000 }), isFree: fc.boolean() });
const anySegment = fc.record({
  packets: fc.integer({ min: 1, max: 300 }),
  kinds: fc.uniqueArray(anyKind, { minLength: 1, maxLength: 2 }),
});
const rates = fc.record({ cores: fc.integer({ min: 1, max: 20 }), hardware: fc.integer({ min: 1, max: 20 }) });

test('no decoder stays free that would be done with a waiting segment before the chosen ones can be', () => {
  fc.assert(
    fc.property(
      fc.array(anySegment, { maxLength: 30 }),
      fc.array(anyState, { maxLength: 12 }),
      rates,
      (segments, decoders, ms) => {
        const placed = placeSegments(segments, decoders, ms);
        const given = placed.filter((one) => one !== undefined);
        assert.equal(new Set(given).size, given.length, 'a decoder begins with one');
        for (const [i, at] of placed.entries()) {
          if (at !== undefined) assert.ok(decoders[at]!.isFree && segments[i]!.kinds.includes(decoders[at]!.kind));
        }
        // The bound holds however the others are ordered: all that waits, behind what a decoder has, on the quickest
        // decoder there is.
        for (const [i, { packets, kinds }] of segments.entries()) {
          if (placed[i] !== undefined) continue;
          for (const [d, decoder] of decoders.entries()) {
            if (!decoder.isFree || given.includes(d) || !kinds.includes(decoder.kind)) continue;
            const aloneMs = decoder.freeInMs + packets * ms[decoder.kind];
            const others = decoders.filter((other, o) => o !== d && kinds.includes(other.kind));
            assert.ok(
              others.some((other) => other.freeInMs + packets * ms[other.kind] <= aloneMs),
              'another is quicker with it',
            );
          }
        }
      },
    ),
  );
});

test('one kind of decoder keeps none of its decoders free while segments wait', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 16 }),
      (packets, count) => {
        const placed = placeSegments(
          packets.map((one) => segment(one, ['cores'])),
          Array.from({ length: count }, () => free('cores')),
          packetMs,
        );
        return placed.filter((one) => one !== undefined).length === Math.min(count, packets.length);
      },
    ),
  );
});

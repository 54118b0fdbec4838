import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FrameChoice, frameTest } from './choose-frames.ts';
import { beginOf, framesOf, untrusted, type VideoPacket } from './video-frames.ts';

/** Packets with these times, in the order of the file; a time with K is of a key frame, one in brackets is hidden. */
function packetsOf(text: string, first = 0): VideoPacket[] {
  return text.split(' ').map((word, i) => {
    const time = /-?\d+/.exec(word)?.[0];
    const isKey = word.includes('K');
    const facts = { dts: null, position: 0, size: 1, isKey, isClean: isKey, isHidden: word.startsWith('(') };
    return { packet: first + i, pts: time === undefined ? null : Number(time), ...facts };
  });
}

const table: [packets: string, order: (number | string)[], ticks: (number | undefined)[], needsGroupBefore: boolean][] =
  [
    ['K0 3 1 2', [0, 2, 3, 1], [0, 1, 2, 3], false],
    ['K2 0 1 4 3', [1, 2, 0, 4, 3], [0, 1, 2, 3, 4], true],
    ['K10 30 20', [0, 2, 1], [0, 10, 20], false],
    ['(K0) (1) 2 3', [2, 3], [0, 1], false],
    ['K0 1 1', ['0', '1', '2'], [0, 1, 1], true],
    ['K0 ? 2', ['0', '1', '2'], [undefined, undefined, undefined], true],
    ['K? 0 ? 2 1', ['0', '1', '2', '3', '4'], [undefined, undefined, 0, 1, 2], true],
  ];
for (const [text, order, ticks, needsGroupBefore] of table) {
  test(`the frames of the packets ${text}`, () => {
    const group = framesOf(packetsOf(text), 5);
    assert.deepEqual(
      group.frames.map(({ packet, order: place }) => (place === undefined ? packet : `${place}`)),
      order,
    );
    assert.deepEqual(
      group.frames.map((frame) => frame.ticks),
      ticks,
    );
    assert.deepEqual(
      group.frames.map(({ frame }) => frame),
      order.map((_, i) => 5 + i),
    );
    assert.equal(group.needsGroupBefore, needsGroupBefore);
  });
}

const damages: [packets: string, damaged: number[], untrusted: number[]][] = [
  // Up to the next key frame.
  ['K0 3 1 2 K4 5', [1], [1, 2, 3]],
  // And frames behind it that are shown before it.
  ['K0 1 K4 2 3 5', [1], [1, 3, 4]],
  // These spoil each other, and nothing else.
  ['K0 1 K4 2 3 5 K8 6', [3], [3, 4]],
  ['K0 K1 K2', [1], [1]],
  // Without times, nobody knows which frame is damaged.
  ['K? ? ? K? ?', [1], [0, 1, 2]],
  ['K0 1', [], []],
];
for (const [text, damaged, expected] of damages) {
  test(`damage of packets ${damaged} of ${text} spoils ${expected}`, () => {
    assert.deepEqual([...untrusted(packetsOf(text), (packet) => damaged.includes(packet))], expected);
  });
}

test('decoding begins early enough that nothing a frame needs is missing', () => {
  const [a, b, c] = packetsOf('K0 K10 K20');
  const dirty = { ...c!, isClean: false };
  assert.deepEqual(beginOf({ first: c!, needsGroupBefore: false }, [a!, b!]), { start: c, strictFrom: 2 });
  assert.deepEqual(beginOf({ first: c!, needsGroupBefore: true }, [a!, b!]), { start: b, strictFrom: 1 });
  assert.deepEqual(beginOf({ first: dirty, needsGroupBefore: false }, [a!, b!]), { start: b, strictFrom: 2 });
  assert.deepEqual(beginOf({ first: dirty, needsGroupBefore: true }, [a!, { ...b!, isClean: false }]), {
    start: a,
    strictFrom: 1,
  });
  assert.deepEqual(beginOf({ first: dirty, needsGroupBefore: true }, []), { start: dirty, strictFrom: 2 });
});

test('decoding begins with the last key frame from which on all is refreshed by then', () => {
  const key = (packet: number, references: number, recovery: number): VideoPacket => {
    return { ...packetsOf(`K${packet}`)[0]!, packet, isClean: false, references, recovery };
  };
  const groups = [key(0, 0, 9), key(10, 4, 9), key(20, 8, 9), key(30, 13, 9)];
  const startOf = (i: number) =>
    beginOf({ first: groups[i]!, needsGroupBefore: false }, groups.slice(0, i)).start.packet;
  // From 4 on, nine later is 13; from 8 on it is 17. If none is early enough, the first is the best.
  assert.deepEqual([startOf(3), startOf(2), startOf(0)], [10, 0, 0]);
});

/** Frames at these ticks that a choice takes. */
function chosen(choice: FrameChoice, ticks: readonly number[], den = 1000): number[] {
  const takes = frameTest(choice, { num: 1, den });
  return ticks.flatMap((at, frame) => (takes({ frame, ticks: at, packet: frame }) ? [frame] : []));
}

test('a rate takes the first frame at or after each step, as its definition says', () => {
  const frames = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 60 });
  const rate = fc.record({ num: fc.integer({ min: 1, max: 60 }), den: fc.integer({ min: 1, max: 7 }) });
  fc.assert(
    fc.property(frames, rate, (gaps, fps) => {
      let at = 0;
      const ticks = gaps.map((gap, i) => (at += i === 0 ? 0 : gap));
      const expected = new Set<number>();
      for (let k = 0; (k * 1000 * fps.den) / fps.num <= at; k++) {
        expected.add(ticks.findIndex((time) => time * fps.num >= k * 1000 * fps.den));
      }
      assert.deepEqual(chosen({ fps }, ticks), [...expected]);
    }),
  );
});

test('the beginning is in, the end is not, and both are exact', () => {
  // 1001/30000 s a frame: frame 30 is at 1001 ms.
  const ticks = Array.from({ length: 60 }, (_, i) => i * 1001);
  assert.deepEqual(chosen({ fromMs: 1001, toMs: 1102 }, ticks, 30_000), [30, 31, 32, 33]);
  assert.deepEqual(chosen({ fromMs: 1002, toMs: 1101 }, ticks, 30_000), [31, 32]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { noise } from '../testing/make-job.ts';
import { CameraWatch } from './camera-watch.ts';
import type { ChangeEvent, ChangeKind } from './change-event.ts';

const shape = { rows: 4, columns: 6, bins: 24 };
const cells = shape.rows * shape.columns;
const seconds = 16;

/** The most frequent bin of each cell. */
type Scene = (cell: number) => number;
const street: Scene = (cell) => cell;
const dark: Scene = () => 23;
const darker: Scene = () => 22;
const turned: Scene = (cell) => (cell + 7) % cells;
const thing: Scene = (cell) => (cell === 9 ? 3 : cell);
const passer: Scene = (cell) => (cell === 14 ? 2 : cell);

interface Stretch {
  scene: Scene;
  seconds: number;
  /** Hours without a recording before it. */
  gap?: number;
}

interface Expected {
  kind: ChangeKind;
  from: number;
  to: number;
}

const ofNoise = noise(5);
/** The possible noise of a cell: 200 pixels in any bins. */
const noises = Array.from({ length: 499 }, () => {
  const counts = new Uint8Array(shape.bins);
  for (let pixel = 0; pixel < 200; pixel++) counts[ofNoise(shape.bins)]! += 1;
  return counts;
});

/**
 * Frames of the stretches, their cells of 400 pixels each, half of them noise. Times are seconds of the recording,
 * without gaps.
 */
function watch(stretches: readonly Stretch[], perSecond: number): { found: Expected[]; events: ChangeEvent[] } {
  const random = noise(5);
  const camera = new CameraWatch(shape, { minDuration: 1000 * seconds, times: 8 });
  let [frame, away] = [0, 0];
  for (const { scene, seconds: length, gap = 0 } of stretches) {
    away += gap * 3_600_000;
    for (let i = 0; i < length * perSecond; i++, frame++) {
      const counts = new Float64Array(cells * shape.bins);
      for (let cell = 0; cell < cells; cell++) {
        counts.set(noises[random(noises.length)]!, cell * shape.bins);
        counts[cell * shape.bins + scene(cell)]! += 200;
      }
      camera.add({ uri: 'file:///cam.mp4', frame, isVideo: true, time: away + (1000 * frame) / perSecond }, counts);
    }
  }
  const events = camera.finish();
  const found = events.map(({ kind, start, end }) => {
    return { kind, from: start.frame / perSecond, to: (end.frame + 1) / perSecond };
  });
  return { found, events };
}

/** The events found are the expected ones, to the second: the time between samples. */
function assertFound(stretches: readonly Stretch[], perSecond: number, expected: readonly Expected[]): void {
  const { found } = watch(stretches, perSecond);
  const text = `found ${JSON.stringify(found)} of ${JSON.stringify(expected)}`;
  assert.deepEqual(
    found.map(({ kind }) => kind),
    expected.map(({ kind }) => kind),
    text,
  );
  for (const [i, { from, to }] of expected.entries()) {
    assert.ok(Math.abs(found[i]!.from - from) <= 1 && Math.abs(found[i]!.to - to) <= 1, text);
  }
}

test('covers of all lengths, at each place in a block: two, and where they begin and end', () => {
  for (let begin = 40; begin < 48; begin++) {
    for (const length of [16, 17, 19, 20, 22, 24, 31, 60]) {
      const [pause, second] = [16 + (length % 9), 40];
      const stretches = [begin, length, pause, second, 40].map((one, i) => ({
        scene: i % 2 ? dark : street,
        seconds: one,
      }));
      const again = begin + length + pause;
      assertFound(stretches, 1, [
        { kind: 'covered', from: begin, to: begin + length },
        { kind: 'covered', from: again, to: again + second },
      ]);
    }
  }
});

const table: {
  name: string;
  stretches: [Scene, number, number?][];
  expected: [ChangeKind, number, number][];
  /** Frames a second; 1 and 5 unless given. */
  rates?: number[];
}[] = [
  {
    name: 'a cover that goes on in the next recording',
    stretches: [
      [street, 43],
      [dark, 9],
      [dark, 9, 4],
      [street, 40],
    ],
    expected: [['covered', 43, 61]],
  },
  {
    name: 'a cover that ends with the recording',
    stretches: [
      [street, 43],
      [dark, 17],
      [street, 30, 20],
      [dark, 19],
      [street, 17],
    ],
    expected: [
      ['covered', 43, 60],
      ['covered', 90, 109],
    ],
  },
  {
    name: 'a cover that ends seconds before the frames do',
    stretches: [
      [street, 45],
      [dark, 20],
      [street, 3],
    ],
    expected: [['covered', 45, 65]],
  },
  {
    name: 'a cover that lasts to the end',
    stretches: [
      [street, 45],
      [dark, 20],
    ],
    expected: [['covered', 45, 65]],
  },
  {
    name: 'a cover of another shade after the first is the same one',
    stretches: [
      [street, 45],
      [dark, 20],
      [darker, 20],
      [street, 30],
    ],
    expected: [['covered', 45, 85]],
  },
  {
    name: 'the camera is turned while it is covered: the cover ends when another view is seen',
    stretches: [
      [street, 45],
      [dark, 20],
      [turned, 40],
      [street, 40],
    ],
    expected: [
      ['covered', 45, 65],
      ['turned', 65, 105],
    ],
  },
  {
    name: 'a turned camera that is covered is turned still',
    stretches: [
      [street, 45],
      [turned, 20],
      [dark, 20],
      [turned, 20],
      [dark, 30],
      [turned, 30],
    ],
    expected: [
      ['turned', 45, 165],
      ['covered', 65, 85],
      ['covered', 105, 135],
    ],
  },
  {
    name: 'a turned camera is turned back while it is covered',
    stretches: [
      [street, 45],
      [turned, 20],
      [dark, 20],
      [street, 40],
    ],
    expected: [
      ['turned', 45, 85],
      ['covered', 65, 85],
    ],
  },
  {
    name: 'a lens that is wiped for a moment passes',
    stretches: [
      [street, 45],
      [dark, 6],
      [street, 60],
    ],
    expected: [['passing', 45, 51]],
  },
  {
    name: 'what was left before a cover is there after it, and is taken away later',
    stretches: [
      [street, 45],
      [thing, 40],
      [dark, 20],
      [thing, 40],
      [street, 40],
    ],
    expected: [
      ['left', 45, 145],
      ['covered', 85, 105],
    ],
  },
  {
    name: 'a view that is back with more noise than usual has not changed',
    stretches: [
      [street, 57.5],
      [dark, 49.5],
      [street, 25],
      [thing, 53],
      [street, 27],
      [passer, 1],
      [street, 53],
      [dark, 59.5],
      [street, 25],
      [passer, 1],
      [street, 25],
    ],
    expected: [
      ['covered', 57.5, 107],
      ['left', 132, 185],
      ['passing', 212, 213],
      ['covered', 266, 325.5],
      ['passing', 350.5, 351.5],
    ],
    rates: [2],
  },
];

for (const { name, stretches, expected, rates = [1, 5] } of table) {
  for (const perSecond of rates) {
    test(`${name}, ${perSecond} frames/s`, () =>
      assertFound(
        stretches.map(([scene, length, gap]) => ({ scene, seconds: length, gap })),
        perSecond,
        expected.map(([kind, from, to]) => ({ kind, from, to })),
      ));
  }
}

test('covers, turns, things and passers-by in any order, at any moment: all, and nothing else', () => {
  const incident = fc.oneof(
    fc.record({
      kind: fc.constant('covered' as const),
      scene: fc.constantFrom(dark, darker),
      length: fc.integer({ min: 32, max: 120 }),
    }),
    fc.record({
      kind: fc.constant('turned' as const),
      scene: fc.constant(turned),
      length: fc.integer({ min: 32, max: 120 }),
    }),
    // A thing is certain after blocks in which it does not move: two of them, and the one in which it comes.
    fc.record({
      kind: fc.constant('left' as const),
      scene: fc.constant(thing),
      length: fc.integer({ min: 50, max: 120 }),
    }),
    fc.record({
      kind: fc.constant('passing' as const),
      scene: fc.constant(passer),
      length: fc.integer({ min: 2, max: 4 }),
    }),
  );
  const pause = fc.record({ length: fc.integer({ min: 50, max: 120 }), gap: fc.constantFrom(0, 0, 0, 5) });
  const days = fc.tuple(fc.integer({ min: 80, max: 120 }), fc.array(fc.tuple(incident, pause), { maxLength: 8 }));
  fc.assert(
    fc.property(days, fc.constantFrom(2, 4), ([first, incidents], perSecond) => {
      const stretches: Stretch[] = [{ scene: street, seconds: first / 2 }];
      const expected: Expected[] = [];
      let now = first / 2;
      for (const [{ kind, scene, length }, { length: quiet, gap }] of incidents) {
        expected.push({ kind, from: now, to: now + length / 2 });
        stretches.push({ scene, seconds: length / 2 }, { scene: street, seconds: quiet / 2, gap });
        now += (length + quiet) / 2;
      }
      assertFound(stretches, perSecond, expected);
    }),
    { numRuns: repeated(15, 300) },
  );
});

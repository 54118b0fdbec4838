import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IndexFrame } from '../store/segment-writer.ts';
import { noise } from '../testing/make-job.ts';
import { type ChangeOptions, cameraOf, findChanges } from './find-changes.ts';

const shape = { rows: 3, columns: 4, bins: 16 };
const cells = shape.rows * shape.columns;
const options: ChangeOptions = { minDuration: 16, times: 8 };

/** Which bin a cell has most of; by default each another one. */
type Scene = (frame: number, cell: number) => number;
const quiet: Scene = (_, cell) => cell;

/** Frames whose cells count 400 pixels, half of them noise. */
function* draw(count: number, scene: Scene, facts: (frame: number) => Partial<IndexFrame> = () => ({})) {
  const random = noise(7);
  for (let frame = 0; frame < count; frame++) {
    const bins = new Float64Array(cells * shape.bins);
    for (let cell = 0; cell < cells; cell++) {
      bins[cell * shape.bins + scene(frame, cell)] = 200;
      for (let pixel = 0; pixel < 200; pixel++) bins[cell * shape.bins + random(shape.bins)]! += 1;
    }
    const uri = `file:///cam/${String(frame).padStart(4, '0')}.jpg`;
    yield { uri, frame: 0, timestampMs: Number.NaN, capturedAtMs: Number.NaN, camera: null, bins, ...facts(frame) };
  }
}

async function eventsOf(count: number, scene: Scene) {
  const [camera] = await findChanges(draw(count, scene), shape, options);
  return camera!.events.map(({ kind, start, end, cells: where }) => ({
    kind,
    start: start.time,
    end: end.time,
    cells: where,
  }));
}

const all = Array.from({ length: cells }, (_, cell) => cell);
const table: { name: string; scene: Scene; events: object[] }[] = [
  { name: 'nothing but noise', scene: quiet, events: [] },
  {
    name: 'something that passes through two cells',
    scene: (frame, cell) => ((frame === 100 && cell === 5) || (frame === 101 && cell === 6) ? 15 : cell),
    events: [{ kind: 'passing', start: 100, end: 101, cells: [5, 6] }],
  },
  {
    name: 'something left behind by whom it came with',
    scene: (frame, cell) => ((frame === 100 && cell === 5) || (frame >= 101 && cell === 6) ? 15 : cell),
    events: [
      { kind: 'passing', start: 100, end: 100, cells: [5] },
      { kind: 'left', start: 101, end: 299, cells: [6] },
    ],
  },
  {
    name: 'something left behind and taken away',
    scene: (frame, cell) => (frame >= 101 && frame < 203 && cell === 6 ? 15 : cell),
    events: [{ kind: 'left', start: 101, end: 202, cells: [6] }],
  },
  {
    name: 'a lens that is covered for a minute',
    scene: (frame, cell) => (frame >= 99 && frame < 159 ? 15 : cell),
    events: [{ kind: 'covered', start: 99, end: 158, cells: all }],
  },
  {
    name: 'a view that is turned and stays so',
    scene: (frame, cell) => (frame >= 150 ? (cell + 5) % cells : cell),
    events: [{ kind: 'turned', start: 150, end: 299, cells: all }],
  },
];

for (const { name, scene, events } of table) {
  test(`${name}: where and when`, async () => assert.deepEqual(await eventsOf(300, scene), events));
}

test('noise of a covered lens is not a thing that was left, and a thing left in front of it goes with the cover', async () => {
  const random = noise(11);
  const facts = (frame: number): Partial<IndexFrame> => {
    const isCovered = frame >= 160 && frame < 480;
    const bins = new Float64Array(cells * shape.bins);
    for (let cell = 0; cell < cells; cell++) {
      const isLeft = isCovered && frame >= 320 && cell === 6;
      bins[cell * shape.bins + (isLeft ? 3 : isCovered ? 15 : cell)] = 60;
      for (let pixel = 0; pixel < (isCovered ? 30 : 0); pixel++) bins[cell * shape.bins + random(shape.bins)]! += 1;
    }
    return { bins };
  };
  const [camera] = await findChanges(draw(640, quiet, facts), shape, options);
  const lasting = camera!.events.filter(({ kind }) => kind !== 'passing');
  assert.deepEqual(
    lasting.map(({ kind, start, end }) => [kind, start.time, end.time]),
    [
      ['covered', 160, 479],
      ['left', 320, 479],
    ],
  );
});

test('a camera is its name, the video, or the folder of the image', () => {
  const unnamed = { camera: null, timestampMs: Number.NaN };
  assert.equal(cameraOf({ ...unnamed, uri: 'file:///a/b/1.jpg' }), 'file:///a/b');
  assert.equal(cameraOf({ ...unnamed, uri: 'file:///a/b.mp4', timestampMs: 40 }), 'file:///a/b.mp4');
  assert.equal(cameraOf({ uri: 'file:///a/b.mp4', timestampMs: 40, camera: 'gate' }), 'gate');
});

test('each camera is watched by itself, however their frames are mixed', async () => {
  const scene: Scene = (frame, cell) => (frame % 2 === 1 && frame >= 201 && cell === 6 ? 15 : cell);
  const facts = (frame: number) => ({ camera: frame % 2 ? 'north' : 'south', capturedAtMs: 1000 * (frame >> 1) });
  const found = await findChanges(draw(600, scene, facts), shape, options);
  assert.deepEqual(
    found.map(({ camera, time, events }) => [camera, time, events.map(({ kind, start }) => [kind, start.time])]),
    [
      ['south', 'captured_at', []],
      ['north', 'captured_at', [['left', 100_000]]],
    ],
  );
  const only = await findChanges(draw(600, scene, facts), shape, { ...options, camera: 'south' });
  assert.deepEqual(
    only.map(({ camera, frames }) => [camera, frames]),
    [['south', 300]],
  );
});

test('a video is watched by its time stamps, also of many frames a second', async () => {
  const scene: Scene = (frame, cell) => (frame >= 1000 && cell === 6 ? 15 : cell);
  const facts = (frame: number) => ({ uri: 'file:///cam.mp4', frame, timestampMs: 100 * frame });
  const [camera] = await findChanges(draw(2000, scene, facts), shape, options);
  assert.equal(camera!.time, 'timestamp_ms');
  assert.deepEqual(
    camera!.events.map(({ kind, start }) => [kind, start.time]),
    [['left', 100_000]],
  );
});

test('a clock that goes back, frames without a time and empty frames are counted', async () => {
  const facts = (frame: number): Partial<IndexFrame> => {
    if (frame === 50) return { capturedAtMs: Number.NaN };
    if (frame === 60) return { capturedAtMs: 60_000, bins: new Float64Array(cells * shape.bins) };
    return { capturedAtMs: 1000 * (frame < 100 ? frame : frame - 40) };
  };
  const [camera] = await findChanges(draw(200, quiet, facts), shape, options);
  const { frames, withoutTime, empty, clockWentBack, firstBack, events } = camera!;
  assert.deepEqual(
    { frames, withoutTime, empty, clockWentBack, firstBack, events },
    {
      frames: 200,
      withoutTime: 1,
      empty: 1,
      clockWentBack: 1,
      firstBack: { uri: 'file:///cam/0100.jpg', frame: 0 },
      events: [],
    },
  );
});

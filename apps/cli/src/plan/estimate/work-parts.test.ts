import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PlanTotals, PlanWork } from '@halogrid/coordinator/plan';
import { createPipeline, kernelNames, parseOperation } from '@halogrid/kernels';
import fc from 'fast-check';
import { kernelSecondsAPixel } from './kernel-costs.ts';
import { type JobSetup, startSeconds, workParts } from './work-parts.ts';

const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }]);
const setup: JobSetup = { pipelines: [pipeline], mapFormat: 'tiff', nodes: 2, cores: 4 };

const noWork: PlanWork = {
  inputs: 0,
  kinds: {},
  kernelPixels: { u8: 0, u16: 0 },
  knownPixels: [],
  bins: 0,
  previews: 0,
  previewPixels: 0,
  remoteFiles: 0,
  remoteBytes: 0,
};
const nothing = { stagingBytes: 0, resultsBytes: 0 };
const totalsOf = (work: Partial<PlanWork>, more: Partial<PlanTotals> = {}): PlanTotals => ({
  sources: 0,
  kept: 0,
  quarantined: 0,
  unknown: 0,
  pixels: 0,
  shards: 0,
  tiles: 0,
  segments: 0,
  videoFrames: 0,
  haloPixels: 0,
  largest: { width: 0, height: 0, ...nothing },
  batch: nothing,
  all: nothing,
  scratchBytes: 0,
  output: { mapsBytes: 0, featuresBytes: 0, histogramBytes: 0 },
  work: { ...noWork, ...work },
  ...more,
});
const secondsOf = (totals: PlanTotals, by = setup) =>
  Object.values(workParts(totals, by, 'cpu')).reduce((sum, seconds) => sum + seconds, 0);

const amount = fc.nat(1e6);
/** Frames of a kind, and tiles of a TIFF with as many pixels. */
const shape = fc.record({ frames: amount, framePixels: amount, tiles: amount, tilePixels: amount, mapsBytes: amount });
type Shape = { frames: number; framePixels: number; tiles: number; tilePixels: number; mapsBytes: number };
const totalsOfShape = ({ frames, framePixels, tiles, tilePixels, mapsBytes }: Shape): PlanTotals => {
  const read = (units: number, pixels: number) => ({
    units,
    opens: units,
    pixels: units * pixels,
    bytes: units * 1000,
  });
  const pixels = frames * framePixels + tiles * tilePixels;
  return totalsOf(
    {
      inputs: frames + 1,
      kinds: { jpeg: read(frames, framePixels), tiff: read(tiles, tilePixels) },
      kernelPixels: { u8: pixels, u16: 0 },
      bins: 256 * (frames + 1),
    },
    {
      sources: frames + 1,
      pixels,
      tiles,
      shards: tiles + frames,
      output: { mapsBytes, featuresBytes: 0, histogramBytes: 0 },
    },
  );
};

describe('the time of a job', () => {
  test('grows with each amount of work', () => {
    fc.assert(
      fc.property(
        shape,
        fc.constantFrom<keyof Shape>('frames', 'framePixels', 'tiles', 'tilePixels', 'mapsBytes'),
        fc.nat(1e6),
        (drawn, name, more) => {
          // The estimate shares the work on frames among as many threads as there are tiles: another tile without
          // pixels would make frames faster.
          const of = name === 'tiles' ? { ...drawn, frames: 0 } : drawn;
          const grown = { ...of, [name]: of[name] + more };
          assert.ok(secondsOf(totalsOfShape(grown)) >= secondsOf(totalsOfShape(of)) * (1 - 1e-12));
        },
      ),
      // The pixels of one batch of a thread are passed.
      {
        examples: [
          [{ frames: 7, framePixels: 842_216, tiles: 1, tilePixels: 999_990, mapsBytes: 0 }, 'framePixels', 213_301],
        ],
      },
    );
  });

  test('is never less than one core takes for its share, nor than the bytes of its maps take', () => {
    fc.assert(
      fc.property(shape, (of) => {
        const seconds = secondsOf(totalsOfShape(of));
        // A tenth of what was measured on one core: no machine handles a lease in 0.1 ms, or a pixel in 0.1 ns.
        assert.ok(seconds >= (0.1e-3 * of.tiles) / setup.cores);
        assert.ok(seconds >= (0.1e-9 * (of.frames * of.framePixels + of.tiles * of.tilePixels)) / setup.cores);
        assert.ok(seconds >= 0.1e-9 * of.mapsBytes);
      }),
    );
  });

  test('is no longer with more cores, and no shorter than one piece takes on one of them', () => {
    fc.assert(
      fc.property(shape, fc.integer({ min: 1, max: 64 }), (of, cores) => {
        const totals = totalsOfShape(of);
        const [fewer, more] = [cores, cores + 1].map((count) => secondsOf(totals, { ...setup, cores: count }));
        assert.ok(more! <= fewer!);
      }),
    );
    const one = totalsOfShape({ frames: 1, framePixels: 1e9, tiles: 0, tilePixels: 0, mapsBytes: 0 });
    const parts = (cores: number) => workParts(one, { ...setup, cores }, 'cpu');
    assert.equal(parts(64)['decode jpeg'], parts(1)['decode jpeg']);
  });

  test('of 347,457 tiles of 7 x 7 pixels is counted in minutes, not in a third of a second', () => {
    const [side, read] = [7, 9];
    const tiles = 347_457;
    const tiff = { units: tiles, opens: tiles, pixels: tiles * (read + 512) ** 2, bytes: tiles * side ** 2 };
    const work = { inputs: 1, kinds: { tiff }, kernelPixels: { u8: tiles * read ** 2, u16: 0 } };
    const totals = totalsOf(work, { sources: 1, shards: tiles, tiles, pixels: tiles * side ** 2 });
    assert.ok(secondsOf(totals, { ...setup, cores: 2 }) > 600);
  });
});

test('parts have names of the kind of source, the device and the kernel', () => {
  const kinds = { video: { units: 4, opens: 4, pixels: 1e9, bytes: 1e7 } };
  const totals = totalsOf({ inputs: 500, kinds, kernelPixels: { u8: 1e9, u16: 0 } }, { sources: 500, shards: 4 });
  const names = Object.keys(workParts(totals, { ...setup, mapFormat: 'none' }, 'cpu'));
  assert.deepEqual(names, [
    ...['job', 'inputs', 'batches', 'open video', 'index video', 'decode video'],
    'cpu lbp:convention=nw-cw-msb,labels=all,points=8,radius=1 border=interior of 8 bits',
  ]);
});

test('a pipeline does not compute pixels whose counts it knows', () => {
  const two = {
    ...setup,
    mapFormat: 'none',
    pipelines: [pipeline, createPipeline([{ kernel: 'ldp', parameters: {} }])],
  };
  const pixels = { u8: 1e9, u16: 0 };
  const [all, added] = [[], [pixels, { u8: 0, u16: 0 }]].map((knownPixels) =>
    workParts(totalsOf({ kernelPixels: pixels, knownPixels }), two, 'cpu'),
  );
  const [lbp, ...others] = Object.keys(all!).filter((name) => name.startsWith('cpu lbp'));
  assert.deepEqual(others, []);
  const { [lbp!]: _, ...rest } = all!;
  assert.deepEqual(added, rest);
});

test('decoders of videos are started once, so segments of an hour cost little beside its 90,000 frames', () => {
  const kinds = { video: { units: 703, opens: 703, pixels: 90_000 * 1920 * 1080, bytes: 1.8e9 } };
  for (const cores of [2, 16, 128]) {
    const parts = workParts(totalsOf({ kinds }), { ...setup, cores }, 'cpu');
    assert.ok(parts['open video']! + parts['index video']! < 0.2 * parts['decode video']!, `${cores} cores`);
  }
});

test('a start takes longer with more nodes and fewer cores', () => {
  assert.ok(startSeconds({ nodes: 8, cores: 2 }) > startSeconds({ nodes: 1, cores: 2 }));
  assert.ok(startSeconds({ nodes: 8, cores: 2 }) > startSeconds({ nodes: 8, cores: 8 }));
});

describe('a kernel takes', () => {
  const of = (text: string, device: 'gpu' | 'software' | 'cpu', bits: 8 | 16 = 8) =>
    kernelSecondsAPixel(createPipeline([parseOperation(text)]).operations, device, bits);

  test('some time on every device', () => {
    for (const name of kernelNames) {
      const [gpu, cpu, software] = (['gpu', 'cpu', 'software'] as const).map((device) =>
        of(name === 'conv' ? 'conv:kernel=sobel' : name, device),
      );
      assert.ok(gpu! > 0 && cpu! > gpu! && software! > 10 * cpu!, name);
    }
  });

  // Figures for one core in docs/benchmarks.md, "Without a GPU", and in lab/notes/estimates.md.
  test('within a factor of 2 of what was measured', () => {
    for (const [text, nanoseconds] of [
      ['lbp', 1],
      ['lbp:points=16,radius=2', 15],
      ['lbp:points=24,radius=3', 33],
      ['lbp:labels=var', 155],
      ['ldp:order=3', 4.5],
      ['glcm', 3.2],
      ['glcm:offsets=1@0', 1.3],
      ['conv:kernel=gaussian-5', 2.5],
      ['conv:kernel=gaussian-9,as=u8', 13],
      ['conv:kernel=gaussian-21,as=u8', 60],
      ['conv:kernel=gaussian-5,channels=rgb,as=u8', 19],
    ] as const) {
      const told = 1e9 * of(text, 'cpu');
      assert.ok(told > nanoseconds / 2 && told < nanoseconds * 2, `${text}: ${told} ns`);
    }
    const deep = 1e9 * of('ldp', 'cpu', 16);
    assert.ok(deep > 53 / 2 && deep < 53 * 2, `ldp of 16 bits: ${deep} ns`);
  });
});

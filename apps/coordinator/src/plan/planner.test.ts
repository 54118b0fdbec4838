import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PixelType, Size } from '@halogrid/geometry';
import { MissingDecoderError, type OpenImage } from '@halogrid/imaging';
import { firstOf, indexesOf } from '@halogrid/jobs/planned-sources';
import { isRecorded, type PlanStep, type Shard } from '@halogrid/jobs/shard';
import { readable, sourcesOf } from '@halogrid/jobs/testing-planned';
import { createPipeline, type Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { InputError, SourceNotFoundError } from '@halogrid/sources';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { maxBatchBins, maxBatchBytes } from './plan-emitter.ts';
import { planJob } from './planner.ts';

const MiB = 2 ** 20;
const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }]);

/** An input as it is listed, and the result of opening it. */
interface FakeInput {
  name: string;
  named?: boolean;
  sizeBytes?: number;
  content?: Size | Error;
  /** From the listing. */
  error?: string;
  version?: string;
  isStated?: true;
}

test('small inputs of a folder are gathered without opening them', async () => {
  const frames = Array.from({ length: 70 }, (_, i) => ({ name: `${i}.jpg`, sizeBytes: 1000 }));
  const { steps, opened, peeked } = await plan(frames);
  assert.deepEqual([...opened, ...peeked], []);
  assert.deepEqual(
    shardsOf(steps).map(({ work }) => work.sources.count),
    // Batches grow: eight of 8 frames come first.
    [8, 8, 8, 8, 8, 8, 8, 8, 6],
  );
  assert.deepEqual(shardsOf(steps)[0]!.costBytes, 8 * 8000);
  assert.deepEqual(sourcesOf(steps)[69], { index: 69, uri: 'file:///69.jpg', name: '69', sizeBytes: 1000 });
});

test('a file with the extension of an unsupported format is opened, so that the plan names it', async () => {
  const content = new InputError('decode', 'Windows Media (WMV) is not supported');
  const { steps, opened } = await plan([{ name: 'a.jpg' }, { name: 'b.wmv', content }]);
  assert.deepEqual(opened, ['file:///b.wmv']);
  assert.deepEqual(errorsOf(steps), [[1, { stage: 'decode', error: content.message }]]);
});

test('a plan of only images fails if frames of videos are chosen', async () => {
  const video = { every: 0, fpsNum: 5, fpsDen: 1, hwaccel: '' };
  const message =
    'Expected a video among the sources, because the choice of frames is for videos, but received images alone';
  await assert.rejects(plan([{ name: '1.jpg' }, { name: '2.jpg' }], { video }), { message });
  // Its error is reported with the source.
  const { steps } = await plan([{ name: '1.jpg' }, { name: '2.mp4', error: 'unreadable' }], { video });
  assert.equal(errorsOf(steps).length, 1);
});

test('a batch ends before its decoded pixels pass the limit', async () => {
  const frames = Array.from({ length: 22 }, (_, i) => ({
    name: `${i}.webp`,
    content: { width: 4096, height: 3072 },
  }));
  const { steps } = await plan(frames, { batchFrames: 100 });
  assert.deepEqual(
    shardsOf(steps).map(({ work }) => indexesOf(work)),
    [
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
      [10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
      [20, 21],
    ],
  );
  assert.ok(shardsOf(steps).every(({ costBytes }) => costBytes <= maxBatchBytes));
});

test('inputs that were named or could be large are examined, and cut if they are larger than a tile', async () => {
  const { steps, opened, peeked } = await plan([
    { name: 'a.tif', named: true, content: { width: 5000, height: 100 } },
    { name: 'b.png', named: true, content: { width: 4096, height: 4096 } },
    { name: 'c.jpg', sizeBytes: 2 ** 15, content: { width: 9000, height: 9000 } },
    { name: 'd.tif', sizeBytes: 1, content: { width: 100, height: 2 ** 18 } },
    { name: 'e.jpg', sizeBytes: 2 ** 15 + 1, content: { width: 4096, height: 4096 } },
    { name: 'f.webp', sizeBytes: 1, content: { width: 1, height: 1 } },
    { name: 'g.pgm', sizeBytes: 16 * MiB, content: { width: 1, height: 1 } },
  ]);
  // By their size alone, a JPEG of 32 KiB and a PGM of 16 MiB hold no more than a tile does.
  assert.deepEqual(peeked, ['file:///d.tif', 'file:///e.jpg', 'file:///f.webp']);
  assert.deepEqual(opened.toSorted(), ['file:///a.tif', 'file:///b.png', 'file:///d.tif']);
  assert.deepEqual(
    sourcesOf(steps).map(({ tiles }) => tiles),
    [2, undefined, undefined, 64, undefined, undefined, undefined],
  );
  const shards = shardsOf(steps);
  const size = { width: 5000, height: 100 };
  const image = { index: 0, uri: 'file:///a.tif', name: 'a', sizeBytes: 1, pin: 'of file:///a.tif' };
  assert.deepEqual(readable([{ kind: 'shard', shard: shards[0]! }])[0], {
    kind: 'shard',
    shard: {
      shard: 0,
      work: {
        kind: 'tile',
        sources: [{ ...image, preview: true, size: { ...size, pixel: 'u8' }, tiles: 2 }],
        size,
        rect: { x: 0, y: 0, width: 4096, height: 100 },
      },
      costBytes: 4097 * 100,
    },
  });
  assert.deepEqual(shards.filter(({ work }) => work.kind === 'tile').length, 66);
});

test('an image whose size its header does not tell is opened', async () => {
  const { opened, peeked, steps } = await plan([
    { name: 'a.tif', sizeBytes: 9, content: new InputError('decode', 'Not an image') },
    { name: 'b.tif', sizeBytes: 0, content: new InputError('decode', 'The file is empty') },
    // Its first bytes are a picture of its label.
    { name: 'c.mrxs', sizeBytes: 9, content: { width: 1, height: 1 } },
  ]);
  assert.deepEqual(opened, ['file:///a.tif', 'file:///c.mrxs']);
  assert.deepEqual(peeked, ['file:///a.tif']);
  assert.deepEqual(errorsOf(steps), [[0, { stage: 'decode', error: 'Not an image' }]]);
  assert.deepEqual(
    shardsOf(steps).map(({ work }) => indexesOf(work)),
    [[1, 2]],
  );
});

test('a large remote input is opened, and a small one is not even asked for its header', async () => {
  const { opened, peeked } = await plan([
    { name: 'https://host/a.tif', sizeBytes: 16 * MiB },
    { name: 'https://host/b.jpg', sizeBytes: 16 * MiB + 1, content: { width: 1, height: 1 } },
  ]);
  assert.deepEqual(peeked, []);
  assert.deepEqual(opened, ['https://host/b.jpg']);
});

test('an input that the listing rejects is quarantined with its sentence', async () => {
  const { steps, opened } = await plan([{ name: 'loop', error: 'The symbolic link leads in a circle' }]);
  assert.deepEqual(opened, []);
  assert.deepEqual(errorsOf(steps), [[0, { stage: 'read', error: 'The symbolic link leads in a circle' }]]);
});

test('an opened image must be the one that its manifest states; other images are left for nodes to check', async () => {
  const content = { width: 3, height: 4 };
  const stated = (version: string) => ({ sizeBytes: 9, content, version, isStated: true as const });
  const opened = [
    { name: 'a.png', ...stated('of file:///a.png') },
    { name: 'b.png', ...stated('size=5') },
  ];
  const { steps } = await plan(opened, { tilePx: 64 });
  const error = 'The file is not what its manifest states (size=5)';
  assert.deepEqual(errorsOf(steps), [[1, { stage: 'read', error }]]);
  const [source] = sourcesOf((await plan([{ name: 'c.jpg', ...stated('size=5') }])).steps);
  assert.equal(source!.pin, 'size=5');
});

test('an input that cannot be opened is quarantined and the plan goes on', async () => {
  const { steps } = await plan([
    { name: 'a.jpg', named: true, content: new InputError('decode', 'The file is empty') },
    { name: 'b.png', named: true, content: { width: 3, height: 4 } },
  ]);
  const broken = { index: 0, uri: 'file:///a.jpg', name: 'a', sizeBytes: 1, preview: true };
  const frame = { index: 1, uri: 'file:///b.png', name: 'b', sizeBytes: 1, preview: true };
  const sources = [{ ...frame, size: { width: 3, height: 4, pixel: 'u8' } }];
  assert.deepEqual(readable(steps), [
    { kind: 'sources', sources: [{ ...broken, error: { stage: 'decode', error: 'The file is empty' } }] },
    { kind: 'sources', sources },
    // Its counts take more bytes than its pixels.
    { kind: 'shard', shard: { shard: 0, work: { kind: 'frames', sources }, costBytes: 4 * 256 } },
  ]);
});

test('inputs whose decoder is missing are quarantined with that sentence, and the plan goes on', async () => {
  const content = new MissingDecoderError('jpeg', 'JPEGs cannot be read here');
  const { steps } = await plan([
    { name: 'a.jpg', named: true, content },
    { name: 'b.png', named: true, content: { width: 8, height: 8 } },
  ]);
  assert.deepEqual(errorsOf(steps), [[0, { stage: 'decode', error: 'JPEGs cannot be read here' }]]);
  assert.deepEqual(
    shardsOf(steps).map(({ work }) => indexesOf(work)),
    [[1]],
  );
});

test('any other failure to open ends the plan', async () => {
  await assert.rejects(plan([{ name: 'a.jpg', named: true, content: new Error('too many open files') }]), /too many/);
  await assert.rejects(plan([{ name: '', content: new SourceNotFoundError('no such file') }]), SourceNotFoundError);
});

test('every pixel of every input is in one shard, sources come before their shards, and both are numbered in order', async () => {
  const side = fc.integer({ min: 1, max: 40 });
  const input = fc.record({ width: side, height: side, broken: fc.boolean() });
  const job = fc.record({ inputs: fc.array(input, { maxLength: 8 }), tilePx: side, batchFrames: fc.nat({ max: 4 }) });
  await fc.assert(
    fc.asyncProperty(job, async ({ inputs, tilePx, batchFrames }) => {
      const fakes = inputs.map(({ width, height, broken }, i) => {
        return { name: `${i}.png`, content: broken ? new InputError('read', 'broken') : { width, height } };
      });
      const { steps } = await plan(fakes, { tilePx, batchFrames });
      const covered: Uint8Array[] = [];
      const tilesLeft: number[] = [];
      let shards = 0;
      const planned = sourcesOf(steps);
      for (const [index, source] of planned.entries()) {
        assert.equal(source.index, index);
        covered.push(new Uint8Array(source.size ? source.size.width * source.size.height : 0));
        tilesLeft.push(source.error ? 0 : (source.tiles ?? 1));
      }
      const known = new Set<number>();
      for (const step of steps) {
        if (step.kind === 'sources') for (const index of indexesOf(step)) known.add(index);
        else {
          const { shard, work, costBytes } = step.shard;
          assert.equal(shard, shards++);
          assert.ok(costBytes > 0);
          const parts =
            work.kind === 'tile'
              ? [{ index: firstOf(work.sources), ...work.rect }]
              : indexesOf(work).map((index) => ({ index, x: 0, y: 0, ...inputs[index]! }));
          for (const { index, x, y, width, height } of parts) {
            assert.ok(known.has(index));
            tilesLeft[index]!--;
            for (let row = y; row < y + height; row++) {
              for (let column = x; column < x + width; column++)
                covered[index]![row * inputs[index]!.width + column]!++;
            }
          }
        }
      }
      assert.equal(covered.length, inputs.length);
      assert.ok(tilesLeft.every((left) => left === 0));
      assert.ok(covered.every((pixels) => pixels.every((times) => times === 1)));
      assert.equal(errorsOf(steps).length, inputs.filter(({ broken }) => broken).length);
    }),
    { numRuns: repeated(15, 50) },
  );
});

test('a plan is made on demand: an endless folder gives its first shard', async () => {
  const endless = async function* () {
    for (let i = 0; ; i++) yield [{ uri: `file:///${i}.jpg`, name: `${i}.jpg`, sizeBytes: 1, named: false }];
  };
  const { inputs } = fakesOf([]);
  for await (const steps of planJob(specOf(['file:///'], {}), pipeline, undefined, { ...inputs, list: endless })) {
    const shard = steps.find(({ kind }) => kind === 'shard');
    if (shard?.kind !== 'shard') continue;
    assert.equal(shard.shard.shard, 0);
    break;
  }
});

test('an abort ends the plan at once, between the tiles of one image too', async () => {
  const controller = new AbortController();
  const fakes = [{ name: 'a.tif', named: true, content: { width: 1e6, height: 1e6 } }];
  const { inputs } = fakesOf(fakes);
  let shards = 0;
  await assert.rejects(async () => {
    for await (const steps of planJob(specOf(['file:///'], { tilePx: 32 }), pipeline, controller.signal, inputs)) {
      for (const { kind } of steps) if (kind === 'shard' && ++shards === 3) controller.abort(new Error('cancelled'));
    }
  }, /cancelled/);
  assert.equal(shards, 3);
});

test('a batch never has more bins than its answer may hold, even if the job wants more frames', async () => {
  const wide = (channels: number, bins: number): Pipeline => {
    return { ...pipeline, output: { sample: 'u8', channels: Array(channels).fill('') }, bins };
  };
  const table: [frames: number, wide: Pipeline, grid: JobSpec['grid'], batchFrames: number, sizes: number[]][] = [
    [20, wide(1, 256), undefined, 4096, [20]],
    [5000, wide(1, 256), undefined, 4096, [4096, 904]],
    [2500, wide(4, 256), undefined, 4096, [2048, 452]],
    [20, wide(4, 256), { rows: 16, columns: 16 }, 4096, [8, 8, 4]],
    [20, wide(4, 256), { rows: 16, columns: 16 }, 5, [5, 5, 5, 5]],
    [20, wide(4, 256), { rows: 16, columns: 16 }, 0, [8, 8, 4]],
    [3, wide(1, 256), { rows: 128, columns: 128 }, 4096, [1, 1, 1]],
    [20, wide(1, 2 ** 18), { rows: 1, columns: 3 }, 0, [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]],
    [20, wide(1, 0), { rows: 128, columns: 128 }, 4096, [20]],
  ];
  for (const [frames, of, grid, batchFrames, sizes] of table) {
    const fakes = Array.from({ length: frames }, (_, i) => ({ name: `${i}.jpg`, sizeBytes: 1 }));
    const { steps } = await plan(fakes, { grid, batchFrames }, of);
    const planned = shardsOf(steps).map(({ work }) => work.sources.count);
    assert.deepEqual(planned, sizes);
    const bins = (grid ? grid.rows * grid.columns : 1) * of.output.channels.length * of.bins;
    for (const size of planned) assert.ok(size === 1 || size * bins <= maxBatchBins);
  }
});

test('a shard costs the bytes that its pipeline reads, with every channel and all halos, or its counts if they take more', async () => {
  const colour: Pipeline = { ...pipeline, input: ['red', 'green', 'blue'] };
  const size = { width: 100, height: 50 };
  const fakes = [
    { name: 'a.png', named: true, content: size },
    { name: 'b.jpg', sizeBytes: 1000 },
  ];
  const whole = await plan(fakes, {}, colour);
  assert.deepEqual(shardsOf(whole.steps)[0]!.costBytes, 3 * (100 * 50 + 8000));
  const cut = await plan(fakes.slice(0, 1), { tilePx: 64 }, colour);
  assert.deepEqual(
    shardsOf(cut.steps).map(({ costBytes }) => costBytes),
    [3 * 65 * 50, 3 * 37 * 50],
  );
  const twice = createPipeline([
    { kernel: 'lbp', parameters: {} },
    { kernel: 'lbp', parameters: {} },
  ]);
  const deep = await plan(fakes.slice(0, 1), { tilePx: 64 }, twice);
  assert.deepEqual(
    shardsOf(deep.steps).map(({ costBytes }) => costBytes),
    [66 * 50, 38 * 50],
  );
  // Columns of cells begin at 0, 11, 22, 33, 44, 55 | 66, 77, 88, and the tiles meet at 64.
  const cells = await plan(fakes.slice(0, 1), { tilePx: 64, grid: { rows: 9, columns: 9 } }, twice);
  assert.deepEqual(
    shardsOf(cells.steps).map(({ costBytes }) => costBytes),
    [9 * 6, 9 * 4].map((cells) => 4 * 256 * cells),
  );
});

async function plan(fakes: FakeInput[], options: Partial<JobSpec> = {}, of = pipeline) {
  const { inputs, opened, peeked } = fakesOf(fakes);
  const steps: PlanStep[] = [];
  for await (const some of planJob(specOf(['file:///'], options), of, undefined, inputs)) {
    steps.push(...some.filter(isRecorded));
  }
  return { steps, opened, peeked };
}

function fakesOf(fakes: FakeInput[]) {
  const opened: string[] = [];
  const peeked: string[] = [];
  const uriOf = (name: string) => (name.includes('://') ? name : `file:///${name}`);
  const contentOf = (uri: string) => fakes.find(({ name }) => uri === uriOf(name))?.content;
  const list = async function* () {
    for (const { name, named = false, sizeBytes = 1, content, ...more } of fakes) {
      if (content instanceof SourceNotFoundError) throw content;
      yield [{ uri: uriOf(name), name, sizeBytes, named, ...more }];
    }
  };
  const open = async (uri: string): Promise<OpenImage> => {
    opened.push(uri);
    const content = contentOf(uri);
    if (!content || content instanceof Error) throw content;
    const decode = (): never => assert.fail('planning decodes nothing');
    return {
      format: 'png',
      pixel: 'u8',
      readsRegions: false,
      inputBytes: 0,
      version: `of ${uri}`,
      ...content,
      decode,
      close: async () => {},
    };
  };
  const peek = async (uri: string): Promise<(Size & { pixel: PixelType }) | undefined> => {
    peeked.push(uri);
    const content = contentOf(uri);
    return content && !(content instanceof Error) ? { pixel: 'u8', ...content } : undefined;
  };
  return { inputs: { list, open, peek, earlier: async () => undefined }, opened, peeked };
}

function specOf(sources: string[], options: Partial<JobSpec>): JobSpec {
  return {
    sources,
    op: [],
    pipeline: undefined,
    out: '',
    mapFormat: 'none',
    tilePx: 0,
    batchFrames: 0,
    grid: undefined,
    ...options,
  };
}

/** Why sources are set aside, by their numbers. */
const errorsOf = (steps: PlanStep[]) => sourcesOf(steps).flatMap(({ index, error }) => (error ? [[index, error]] : []));

function shardsOf(steps: PlanStep[]): Shard[] {
  return steps.flatMap((step) => (step.kind === 'shard' ? [step.shard] : []));
}

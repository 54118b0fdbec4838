import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createPipeline } from '@halogrid/kernels';
import { writeChunk } from '@halogrid/results';
import type { DoneSource, DoneSources } from './done-sources.ts';
import { LostPartError } from './lost-part-error.ts';
import { earlyPictures, makePictures, type PictureParts, takePictures } from './pictures.ts';
import { PicturesAhead } from './pictures-ahead.ts';

const size = { width: 6, height: 4 };

const doneOf = (index: number): DoneSource => ({ index, name: `${index}.pgm`, size, tiles: 1 });

/** Sources with these outcomes. */
const sourcesOf = (outcomeOf: (index: number) => Awaited<ReturnType<DoneSources['look']>>) => ({
  look: async (index: number) => outcomeOf(index),
  close: async () => {},
});

/** A scratch folder with chunks of some sources. */
async function setStage(t: TestContext, sources: number) {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-pictures-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const scratch = pathToFileURL(folder).href;
  const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }]);
  const parts: PictureParts = { pipeline, scratch, sourcesScratch: scratch, tilePx: 0 };
  for (let source = 0; source < sources; source++) {
    const bytes = Uint8Array.from({ length: 24 }, (_, i) => 10 * i + source);
    const chunk = { scratch, source, size, type: { sample: 'u8', bands: 1 }, rect: { x: 0, y: 0, ...size } } as const;
    for (const kind of ['preview', 'sums'] as const) {
      await writeChunk({ ...chunk, kind }, { bytes, strideBytes: size.width, bandBytes: 24 });
    }
  }
  return { folder, parts };
}

test('pictures of chosen sources are made as soon as they are done, the same as the output would make', async (t) => {
  const { folder, parts } = await setStage(t, 4);
  const outcomes = new Map<number, DoneSource | 'quarantined'>([[0, doneOf(0)]]);
  const pictures = new PicturesAhead(
    [parts],
    [0, 2, 3],
    sourcesOf((index) => outcomes.get(index)),
  );
  outcomes.set(1, doneOf(1)).set(2, doneOf(2)).set(3, 'quarantined');
  // The first picture is being made; the others follow.
  await pictures.advance();
  assert.deepEqual((await readdir(join(folder, 'pictures'))).sort(), ['0.jpg', '0.png', '2.jpg', '2.png']);

  const to = [join(folder, 'map.png'), join(folder, 'map.source.jpg')] as const;
  await makePictures(parts, doneOf(2), to);
  const early = earlyPictures(parts, 2);
  for (const i of [0, 1] as const) assert.deepEqual(await readFile(early[i]), await readFile(to[i]));

  const named = [join(folder, 'named.png'), join(folder, 'named.source.jpg')] as const;
  assert.equal(await takePictures(early, named), true);
  assert.deepEqual(await readFile(named[0]), await readFile(to[0]));
  assert.equal(await takePictures(early, named), false);
});

test('pictures that cannot be made are left to the output, and none are made after the end or without the folder', async (t) => {
  const { folder, parts } = await setStage(t, 1);
  await rm(join(folder, 'sums'), { recursive: true });
  await new PicturesAhead([parts], [0], sourcesOf(doneOf)).advance();
  assert.equal(await takePictures(earlyPictures(parts, 0), ['', '']), false);

  const calls: string[] = [];
  const ended = new PicturesAhead([parts], [0], {
    look: async () => {
      calls.push('look');
      return undefined;
    },
    close: async () => {
      calls.push('close');
    },
  });
  await ended.end();
  await ended.advance();
  assert.deepEqual(calls, ['look', 'close']);

  const gone = { ...parts, scratch: `${parts.scratch}/gone` };
  await new PicturesAhead([gone], [0], sourcesOf(doneOf)).advance();
  await mkdir(join(folder, 'gone'));
});

test('while the sources cannot be read, no picture is made', async (t) => {
  const { folder, parts } = await setStage(t, 2);
  let outcomeOf: (index: number) => DoneSource = () => {
    throw new Error('The folder is away');
  };
  const sources = sourcesOf((index) => outcomeOf(index));
  const pictures = new PicturesAhead([parts], [0], sources);
  await pictures.advance();
  await pictures.end();
  assert.deepEqual((await readdir(folder)).sort(), ['preview', 'sums']);
  const again = new PicturesAhead([parts], [0, 1], sources);
  await again.advance();
  outcomeOf = (index) => {
    if (index === 0) throw new Error('The folder is away');
    return doneOf(index);
  };
  await again.advance();
  assert.deepEqual((await readdir(join(folder, 'pictures'))).sort(), ['1.jpg', '1.png']);
  outcomeOf = doneOf;
  await again.advance();
  assert.deepEqual((await readdir(join(folder, 'pictures'))).sort(), ['0.jpg', '0.png', '1.jpg', '1.png']);
});

test('a source whose part is lost is left to the output, and others are made', async (t) => {
  const { folder, parts } = await setStage(t, 2);
  const asked: number[] = [];
  const sources = sourcesOf((index) => {
    asked.push(index);
    if (index === 0) throw new LostPartError({ message: 'The part is gone', shard: 3, isFalse: false });
    return doneOf(index);
  });
  const pictures = new PicturesAhead([parts], [0, 1], sources);
  await pictures.advance();
  await pictures.advance();
  assert.deepEqual(asked, [0, 1]);
  assert.deepEqual((await readdir(join(folder, 'pictures'))).sort(), ['1.jpg', '1.png']);
});

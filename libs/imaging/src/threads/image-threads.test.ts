import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { InputError } from '@halogrid/sources';
import { temporaryFile } from '@halogrid/sources/testing-files';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import sharp from 'sharp';
import { openImage } from '../open-image.ts';
import { oneBitPng } from '../testing/images.ts';
import { ImageThreads } from './image-threads.ts';

const size = { width: 123, height: 45 };

test('images opened on threads equal images opened here, and decode to the same bytes wherever they are put', async (t) => {
  const threads = startThreads(t);
  const files = await exampleFiles(t);
  const asked = fc.record({
    uri: fc.constantFrom(...files),
    before: fc.integer({ min: 0, max: 40 }).map((n) => 2 * n),
    gap: fc.integer({ min: 0, max: 9 }).map((n) => 2 * n),
    channels: fc.constantFrom('gray' as const, 'rgb' as const),
    isShared: fc.boolean(),
  });
  const property = fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 12 }), async (images) => {
    await Promise.all(
      images.map(async ({ uri, before, gap, channels, isShared }) => {
        const [here, there] = await Promise.all([openImage(uri), threads.openImage(uri)]);
        const { format, width, height, pixel, version, readsRegions } = here;
        assert.deepEqual(
          { format, width, height, pixel, version, readsRegions, copy: undefined },
          { ...pick(there), copy: there.copy },
        );
        const stride = 2 * width + gap;
        const planeBytes = stride * height;
        const length = before + 3 * planeBytes;
        const targets = [
          new Uint8Array(length),
          isShared ? new Uint8Array(new SharedArrayBuffer(length)) : new Uint8Array(length),
        ];
        for (const [i, image] of [here, there].entries()) {
          const to = { bytes: targets[i]!, offset: before, stride, channels, planeBytes };
          await image.decode({ x: 0, y: 0, width, height }, to);
        }
        assert.equal(Buffer.compare(targets[0]!, targets[1]!), 0);
        assert.equal(there.inputBytes, here.inputBytes);
        await Promise.all([here.close(), there.close()]);
      }),
    );
  });
  await fc.assert(property, { numRuns: repeated(10, 60) });
});

test('an error of an input or of a request is the same as without threads', async (t) => {
  const threads = startThreads(t);
  const broken = await temporaryFile(t, 'broken.jpg', 'no JPEG');
  const missing = new URL('./missing.png', import.meta.url).href;
  for (const uri of [broken, missing, 'ftp://host/file.png', 'http://127.0.0.1:1/unreachable.png']) {
    const here = await openImage(uri).catch((error: unknown) => error);
    await assert.rejects(threads.openImage(uri), (error) => {
      assert.ok(error instanceof InputError && here instanceof InputError);
      assert.deepEqual([error.message, error.stage, error.fault], [here.message, here.stage, here.fault]);
      return true;
    });
  }
  const [pgm] = await exampleFiles(t);
  const image = await threads.openImage(pgm!);
  const to = { bytes: new Uint8Array(10), offset: 0, stride: size.width, channels: 'gray' as const, planeBytes: 0 };
  await assert.rejects(image.decode({ x: 0, y: 0, ...size }, to), /10/);
  await image.close();
});

test('the copy of a large image takes as much as without threads, and a failure to write it is reported', async (t) => {
  const threads = startThreads(t);
  const [width, height] = [20_000, 14_000];
  const uri = await temporaryFile(t, 'large.png', oneBitPng(width, height, Buffer.alloc(height * (1 + width / 8))));
  const [here, there] = [await openImage(uri), await threads.openImage(uri)];
  assert.ok(here.copy && there.copy);
  for (const channels of ['gray', 'rgb'] as const) assert.equal(there.copy.bytes(channels), here.copy.bytes(channels));
  await assert.rejects(there.copy.write('/no such folder/copy.tif', 'gray'));
  await Promise.all([here.close(), there.close()]);
});

test('a thread that ends fails the work it was at, and another one opens the next image', async (t) => {
  const threads = startThreads(t, 1);
  const [uri] = await exampleFiles(t);
  const image = await threads.openImage(uri!);
  await threads.close();
  await assert.rejects(image.close(), /^Error: A thread that reads images has ended: it exited with 0$/);
  const next = await threads.openImage(uri!);
  assert.equal(next.width, size.width);
  await next.close();
});

function startThreads(t: TestContext, count = 2): ImageThreads {
  const threads = new ImageThreads(count, 4);
  t.after(() => threads.close());
  return threads;
}

function pick({ format, width, height, pixel, version, readsRegions }: Awaited<ReturnType<typeof openImage>>) {
  return { format, width, height, pixel, version, readsRegions };
}

/** The same picture as PGM, JPEG, and PNG of 8 and 16 bits. */
async function exampleFiles(t: TestContext): Promise<string[]> {
  const gray = Uint8Array.from({ length: size.width * size.height }, (_, i) => (i * i) % 251);
  const picture = () => sharp(gray, { raw: { ...size, channels: 1 } }).toColourspace('b-w');
  const deep = sharp(
    Uint16Array.from(gray, (v) => v * 250),
    { raw: { ...size, channels: 1 } },
  ).toColourspace('grey16');
  const files: [name: string, content: Uint8Array][] = [
    ['a.pgm', Buffer.concat([Buffer.from(`P5 ${size.width} ${size.height} 255\n`), gray])],
    ['b.jpg', await picture().jpeg().toBuffer()],
    ['c.png', await picture().png().toBuffer()],
    ['d.png', await deep.png().toBuffer()],
  ];
  return await Promise.all(files.map(([name, content]) => temporaryFile(t, name, content)));
}

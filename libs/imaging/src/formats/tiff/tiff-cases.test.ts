import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { temporaryFile, temporaryFolder } from '@halogrid/sources/testing-files';
import { sendFile, startServer } from '@halogrid/sources/testing-servers';
import { isThorough, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { openImage } from '../../open-image.ts';
import { asPixels } from '../../planes/plane-target.ts';
import type { ReadOptions } from '../../planes/read-options.ts';
import { assertPlanes, type Channels, decodeOpen, decodeWhole, planes, sha256 } from '../../testing/images.ts';
import { pairName, pairsOf, readCases, type TiffCase } from './testing/tiff-cases.ts';

/** A case as fixtures/make-tiff-cases.py writes it. */
interface Made {
  case: TiffCase;
  width: number;
  height: number;
  pixel: 'u8' | 'u16';
  sha256: string;
  rgbSha256: string;
  tiff: string;
}

const packed = readFileSync(new URL('../../../fixtures/tiff-cases.json.gz', import.meta.url));
const allFiles: Made[] = JSON.parse(gunzipSync(packed).toString());
const files = allFiles.filter((made) => !isColourless(made));
const nameOf = ({ case: file }: Made): string => JSON.stringify(file);
const bytesOf = ({ tiff }: Made): Buffer => Buffer.from(tiff, 'base64');

/** Gray with other samples than alpha: its first band is chosen. */
const readOf = ({ case: { photometric, extra } }: Made): ReadOptions =>
  photometric < 2 && ['unstated', 'unspecified', 'six'].includes(extra) ? { band: { numbers: [1] } } : {};

/** RGB with six more samples is not a colour, and libtiff reads none of its bands alone. */
function isColourless({ case: { photometric, extra } }: Made): boolean {
  return photometric === 2 && extra === 'six';
}

const expected = (made: Made, channels: Channels): string => (channels === 'gray' ? made.sha256 : made.rgbSha256);

test('among the files is every pair of values that is read', () => {
  const read = new Set<number>();
  for (const file of readCases()) for (const pair of pairsOf(file)) read.add(pair);
  const made = new Set(allFiles.flatMap((file) => pairsOf(file.case)));
  assert.ok(read.size > 500);
  assert.deepEqual([...read].filter((pair) => !made.has(pair)).map(pairName), []);
});

test('each file is read to what libtiff or GDAL reads, from disk and a copy, and some from a server', async (t) => {
  const server = await startServer((request, response) => {
    sendFile({ bytes: bytesOf(files[Number(request.url!.slice(1))]!), etag: '"x"' }, request, response);
  });
  t.after(() => server.close());
  const folder = await temporaryFolder(t);
  for (const [number, made] of files.entries()) {
    const path = join(folder, `${number}.tif`);
    writeFileSync(path, bytesOf(made));
    for (const channels of ['gray', 'rgb'] as const) {
      const uris = [pathToFileURL(path).href];
      // How a file is read does not depend on where its bytes come from.
      if (isThorough || number % 5 === 0) uris.push(`${server.origin}/${number}`);
      for (const uri of uris) {
        const image = await openImage(uri, readOf(made));
        const { width, height, pixel } = image;
        assert.deepEqual({ width, height, pixel }, { width: made.width, height: made.height, pixel: made.pixel });
        assert.equal(sha256(await decodeOpen(image, channels)), expected(made, channels), `${uri} ${nameOf(made)}`);
        await image.close();
      }
      const large = await openImage(pathToFileURL(path).href, { ...readOf(made), maxWholePixels: 100 });
      assert.equal(large.readsRegions, made.case.blocks === 'tiles');
      if (large.copy) {
        const copy = join(folder, `${number}-${channels}`);
        await large.copy.write(copy, channels);
        assert.equal(
          sha256(await decodeWhole(pathToFileURL(copy).href, channels)),
          expected(made, channels),
          nameOf(made),
        );
      }
      await large.close();
    }
  }
});

test('any region of any tiled file is the same as in the whole image', async (t) => {
  const tiled = await Promise.all(
    files
      .filter((made) => made.case.blocks === 'tiles')
      .map(async (made) => ({ made, uri: await temporaryFile(t, 'a.tif', bytesOf(made)) })),
  );
  const part = fc.double({ min: 0, max: 0.999, noNaN: true });
  const pick = fc.record({
    file: fc.constantFrom(...tiled),
    channels: fc.constantFrom<Channels>('gray', 'rgb'),
    corners: fc.tuple(part, part, part, part),
  });
  const property = fc.asyncProperty(pick, async ({ file: { made, uri }, channels, corners: [a, b, c, d] }) => {
    const { width, height, pixel } = made;
    const [x, y] = [Math.floor(a * width), Math.floor(b * height)];
    const region = { x, y, width: 1 + Math.floor(c * (width - x)), height: 1 + Math.floor(d * (height - y)) };
    const image = await openImage(uri, readOf(made));
    const whole = asPixels(await decodeOpen(image, channels), pixel);
    const target = planes(region.width, region.height, channels, { before: 2, padding: 4, between: 6 }, pixel);
    await image.decode(region, target);
    await image.close();
    const expect = (plane: number, px: number, py: number): number =>
      whole[(plane * height + y + py) * width + x + px]!;
    assertPlanes(target, region.width, region.height, expect, nameOf(made), pixel);
  });
  await fc.assert(property, { numRuns: repeated(100, 800) });
});

test('bands that are no colours are refused unless one is chosen', async (t) => {
  const refused = allFiles.filter((made) => readOf(made).band || isColourless(made));
  assert.ok(refused.length > 5, String(refused.length));
  for (const made of refused) {
    const uri = await temporaryFile(t, 'a.tif', bytesOf(made));
    const message = /^The TIFF has \d bands that are not colours: choose with --band, 1 to \d or all$/;
    await assert.rejects(openImage(uri), { name: 'InputError', message }, nameOf(made));
  }
});

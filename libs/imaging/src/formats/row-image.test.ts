import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowUri } from '@halogrid/sources/row-uri';
import { temporaryFile } from '@halogrid/sources/testing-files';
import { parquetOf } from '@halogrid/sources/testing-parquet-files';
import { sendFile, startServer } from '@halogrid/sources/testing-servers';
import { openImage } from '../open-image.ts';
import { peekSize } from '../peek-size.ts';
import { decodeOpen, expectedFixtures, fixtureBytes, sha256 } from '../testing/images.ts';
import { ImageThreads } from '../threads/image-threads.ts';

// Every reader of bytes has to know that an image may be in memory: all fixtures, from disk, from a server and on a
// thread, a second in all.

test('every fixture decodes as a row of a Parquet file as it does alone, from disk and from a server', async (t) => {
  const names = Object.keys(expectedFixtures);
  const bytes = parquetOf(
    names.map((path) => ({ bytes: fixtureBytes(path), path })),
    { rowGroupSize: 7 },
  );
  const server = await startServer((request, response) => sendFile({ bytes, etag: '"1"' }, request, response));
  t.after(() => server.close());
  const local = await temporaryFile(t, 'x.parquet', bytes);
  const threads = new ImageThreads(1, 1);
  t.after(() => threads.close());
  const open = { local: openImage, remote: openImage, thread: (uri: string) => threads.openImage(uri) };
  for (const place of ['local', 'remote', 'thread'] as const) {
    for (const [row, path] of names.entries()) {
      const file = place === 'remote' ? `${server.origin}/x.parquet` : local;
      // Without the name, the content alone tells the format.
      const uri = rowUri(file, { column: 'image.bytes', row, ...(row % 2 === 0 && { path }) });
      const { width, height, sha256: gray, rgbSha256 } = expectedFixtures[path]!;
      const image = await open[place](uri);
      assert.deepEqual([image.width, image.height], [width, height], uri);
      assert.equal(sha256(await decodeOpen(image)), gray, uri);
      if (place === 'local') assert.equal(sha256(await decodeOpen(image, 'rgb')), rgbSha256, uri);
      assert.ok(image.inputBytes > 0, uri);
      await image.close();
      assert.equal(await peekSize(uri), undefined);
    }
  }
});

test('a row that is not an image, or has none, is refused with the reason', async (t) => {
  const rows = [{ bytes: Buffer.from('no image') }, { bytes: null }, { bytes: new Uint8Array(0), path: 'a.jpg' }];
  const file = await temporaryFile(t, 'x.parquet', parquetOf(rows));
  const reasons = [/^Not an image: /, /^Row 1 has no image: its column 'image.bytes' is null$/, /^The file is empty/];
  for (const [row, message] of reasons.entries())
    await assert.rejects(openImage(rowUri(file, { column: 'image.bytes', row })), { stage: 'decode', message });
});

import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { sendFile, startServer, type TestServer } from '@halogrid/sources/testing-servers';
import { eventually } from '@halogrid/testing';
import sharp from 'sharp';
import { Cluster, startNode } from './cluster.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readErrors, readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';

// An image that changes between plan and read is set aside, also if its size in bytes and pixels stays the same, so
// that no result mixes two versions. The same holds for an image that grows.

const folder = scratchFolder();
const size = { width: 300, height: 200 };
const still = drawPicture(size.width, size.height, 9);
let web: TestServer;
let cluster: Cluster;

before(async () => {
  web = await startServer((request, response) => {
    const bytes = readFileSync(join(folder, request.url!.split('?')[0]!));
    // Only the time shows the change.
    sendFile(
      { bytes, lastModified: new Date(bytes.readUInt8(bytes.length - 1) * 1000).toUTCString() },
      request,
      response,
    );
  });
  cluster = await Cluster.start({ nodes: 0 });
});
after(async () => {
  await cluster.stop();
  await web.close();
});

/** Pictures in formats that are read by region, and in formats that are decoded whole. */
async function writeSources(name: string, seed: number): Promise<string[]> {
  const { pixels } = drawPicture(size.width, size.height, seed);
  pixels[pixels.length - 1] = seed;
  const at = (file: string): string => join(folder, name, file);
  mkdirSync(join(folder, name), { recursive: true });
  await writePgm(at('a.pgm'), { ...size, pixels });
  // Uncompressed, so that the size of the files does not depend on their pixels.
  const raw = sharp(pixels, { raw: { ...size, channels: 1 } }).toColourspace('b-w');
  writeFileSync(at('b.png'), await raw.clone().png({ compressionLevel: 0 }).toBuffer());
  const tiles = { tile: true, tileWidth: 64, tileHeight: 64, compression: 'none' } as const;
  writeFileSync(at('c.tif'), await raw.clone().tiff(tiles).toBuffer());
  return ['a.pgm', 'b.png', 'c.tif'].map(at);
}

for (const [name, storage] of [
  ['shared', []],
  ['remote', ['--storage', 'remote']],
] as const) {
  test(`on disk and on a server, ${name} storage`, async () => {
    const files = await writeSources(name, 1);
    const before = files.map((file) => readFileSync(file));
    const sources = [...files, `${web.origin}/${name}/a.pgm`];
    const growing = join(folder, name, 'growing.pgm');
    for (const file of [growing, join(folder, name, 'still.pgm')]) await writePgm(file, still);
    const out = join(folder, `out-${name}`);
    const jobId = await cluster.jobs.submit({
      sources: [...sources, growing, join(folder, name, 'still.pgm')],
      out,
      map: 'tiff',
      tilePx: 50,
    });
    await eventually('the plan', async () => (await cluster.job(jobId))?.planned);
    await writeSources(name, 2);
    appendFileSync(growing, 'more');
    for (const [i, file] of files.entries()) {
      const now = readFileSync(file);
      assert.equal(now.length, before[i]!.length);
      assert.notDeepEqual(now, before[i]);
    }

    const node = await cluster.adopt(await startNode(cluster.address, name, 'cpu', storage));
    await cluster.jobs.untilEnded(jobId);
    node.program.signal('SIGTERM');
    await node.program.ended;
    assert.equal(readJson(out, 'job.json').state, 'complete');
    const errors = readErrors(out);
    const uris = [...sources, growing].map((uri) => (uri.startsWith('http:') ? uri : pathToFileURL(uri).href));
    assert.deepEqual(errors.map(({ uri }) => uri).sort(), uris.sort());
    for (const { stage, error } of errors) {
      assert.equal(stage, 'read');
      assert.match(error, /^The file (is not what it was when the job was planned|changed while it was read)/);
    }
    assert.equal(readHistogram(out).counted, (size.width - 2) * (size.height - 2));
  });
}

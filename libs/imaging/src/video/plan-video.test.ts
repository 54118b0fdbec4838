import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { VideoIndexer } from './index-video.ts';
import { planVideo } from './plan-video.ts';
import type { IndexLine } from './process/index-line.ts';
import { makeVideos, noFfmpeg, videoKinds } from './testing/videos.ts';
import { openVideoFile } from './video-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'halogrid-plan-video-'));
const indexer = new VideoIndexer(1);
const kinds = ['h264.mp4', 'h264-open.mkv', 'h264-open.ts', 'mjpeg.avi', 'mpeg4.avi', 'hevc-open.ts'];
before(() => {
  if (!noFfmpeg) makeVideos(kinds.map((kind) => ({ path: join(folder, kind), encoder: videoKinds[kind]! })));
});
after(async () => {
  await indexer.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Where the segments of six groups of two frames begin; seeking does not lead to groups in `unreached`. */
async function placesOf(unreached: readonly number[], aim: number): Promise<number[]> {
  async function* index(): AsyncGenerator<IndexLine, void, undefined> {
    yield { kind: 'video', width: 8, height: 8, pixel: 'u8', timeBase: { num: 1, den: 25 }, delay: 0 };
    for (let packet = 0; packet < 12; packet++) {
      const facts = { packet, pts: packet, dts: packet, position: 100 * packet, size: 9, isHidden: false };
      const isKey = packet % 2 === 0;
      if (isKey && unreached.includes(packet - 2)) yield { kind: 'unreached', packet: packet - 2 };
      yield { kind: 'packets', packets: [{ ...facts, isKey, isClean: isKey }] };
    }
    if (unreached.includes(10)) yield { kind: 'unreached', packet: 10 };
    yield { kind: 'end', missing: 0, why: '' };
  }
  const uri = pathToFileURL(import.meta.filename).href;
  const parts = await Array.fromAsync(planVideo(uri, {}, () => ({ aim, most: 100 }), index));
  return parts.flatMap((part) => {
    if (part.kind !== 'segment') return [];
    const { pts, dts, position } = part.segment.start;
    assert.deepEqual([pts, dts], position < 0 ? [null, null] : [position / 100, position / 100]);
    return [position];
  });
}

test('a segment with a group that seeking does not lead to has no place to seek', async () => {
  assert.deepEqual(await placesOf([], 2), [0, 200, 400, 600, 800, 1000]);
  assert.deepEqual(await placesOf([2, 10], 2), [0, -1, 400, 600, 800, -1]);
  assert.deepEqual(await placesOf([6], 4), [0, -1, 800]);
  assert.deepEqual(await placesOf([10], 100), [-1]);
});

/**
 * Where segments begin and end if every hundredth of 240 frames is chosen, in groups of that length; `isClean`: each
 * group stands alone.
 */
async function sparse(length: number, isClean: boolean, unreached?: number): Promise<[number, number][]> {
  async function* index(): AsyncGenerator<IndexLine, void, undefined> {
    yield { kind: 'video', width: 8, height: 8, pixel: 'u8', timeBase: { num: 1, den: 25 }, delay: 0 };
    for (let packet = 0; packet < 240; packet++) {
      const facts = { packet, pts: packet, dts: packet, position: 100 * packet, size: 9, isHidden: false };
      const isKey = packet % length === 0;
      if (isKey && packet - length === unreached) yield { kind: 'unreached', packet: unreached };
      const refreshed = isKey && !isClean && packet > 0 ? { references: packet, recovery: 1000 } : {};
      const isFirst = isKey && (isClean || packet === 0);
      yield { kind: 'packets', packets: [{ ...facts, isKey, isClean: isFirst, ...refreshed }] };
    }
    yield { kind: 'end', missing: 0, why: '' };
  }
  const uri = pathToFileURL(import.meta.filename).href;
  const parts = await Array.fromAsync(planVideo(uri, { every: 100 }, () => ({ aim: 100, most: 100 }), index));
  return parts.flatMap((part) => (part.kind === 'segment' ? [[part.segment.start.packet, part.segment.end]] : []));
}

test('groups that no chosen frame needs are not decoded if they are long enough and can be passed over', async () => {
  assert.deepEqual(await sparse(40, true), [
    [0, 1],
    [80, 101],
    [200, 201],
  ]);
  // Each needs all before it.
  assert.deepEqual(await sparse(40, false), [[0, 201]]);
  assert.deepEqual(await sparse(240, true), [[0, 201]]);
  // A group that cannot be sought is read from the beginning, so all is read once.
  assert.deepEqual(await sparse(40, true, 80), [[0, 201]]);
});

test('a segment that --to ends is given before what follows it is listed', async () => {
  let listed = 0;
  async function* index(): AsyncGenerator<IndexLine, void, undefined> {
    yield { kind: 'video', width: 8, height: 8, pixel: 'u8', timeBase: { num: 1, den: 25 }, delay: 0 };
    for (let packet = 0; packet < 1000; packet++) {
      const facts = { packet, pts: packet, dts: packet, position: 100 * packet, size: 9, isHidden: false };
      const isKey = packet % 10 === 0;
      listed++;
      yield { kind: 'packets', packets: [{ ...facts, isKey, isClean: isKey }] };
    }
    yield { kind: 'end', missing: 0, why: '' };
  }
  const uri = pathToFileURL(import.meta.filename).href;
  const found: [number, number][] = [];
  // The fifteenth frame is shown at 0.6 s.
  for await (const part of planVideo(uri, { toMs: 600 }, () => ({ aim: 100, most: 100 }), index))
    if (part.kind === 'segment') found.push([part.segment.frames.length, listed]);
  assert.deepEqual(found, [[15, 21]]);
  assert.equal(listed, 1000);
});

async function unreachedOf(path: string): Promise<number> {
  const file = await openVideoFile(pathToFileURL(path).href);
  const lines = await Array.fromAsync(indexer.index(file));
  file.close();
  return lines.filter(({ kind }) => kind === 'unreached').length;
}

for (const kind of kinds) {
  test(`seeking leads to each key frame of ${kind}`, { skip: noFfmpeg }, async () => {
    assert.equal(await unreachedOf(join(folder, kind)), 0);
  });
}

test('behind a lost chunk, seeking gives other packets of an AVI file, so it is not trusted', {
  skip: noFfmpeg,
}, async () => {
  const path = join(folder, 'lost.avi');
  const bytes = readFileSync(join(folder, 'mpeg4.avi'));
  let at = bytes.indexOf('movi');
  for (let chunk = 0; chunk < 5; chunk++) at = bytes.indexOf('00dc', at + 4);
  bytes.fill(0, at, at + 8);
  writeFileSync(path, bytes);
  assert.ok((await unreachedOf(path)) > 0);
});

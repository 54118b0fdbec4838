import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { VideoIndexer } from '../index-video.ts';
import { noFfmpeg, runFfmpeg } from '../testing/videos.ts';
import type { VideoFile } from '../video-file.ts';
import type { VideoPacket } from '../video-frames.ts';

const skip = noFfmpeg;
const folder = mkdtempSync(join(tmpdir(), 'halogrid-packet-list-'));
const indexer = new VideoIndexer();
/** More than the packets that are read before tables are believed. */
const frames = 700;
const source = ['-f', 'lavfi', '-i', 'testsrc2=s=98x66:r=25', '-f', 'lavfi', '-i', 'sine=440:r=8000'];
const h264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'superfast', '-g', '25'];
const made: Record<string, readonly string[]> = {
  'b-frames.mp4': [...h264, '-bf', '3', '-c:a', 'aac'],
  'open.mov': [...h264, '-bf', '3', '-x264-params', 'open-gop=1', '-an'],
  'refresh.mp4': [...h264, '-x264-params', 'intra-refresh=1:keyint=20', '-an'],
  'b-frames.avi': [...h264, '-bf', '3', '-c:a', 'pcm_s16le'],
  'open.avi': [...h264, '-bf', '3', '-x264-params', 'open-gop=1', '-an'],
  'mjpeg.avi': ['-pix_fmt', 'yuvj420p', '-c:v', 'mjpeg', '-c:a', 'pcm_s16le'],
  'large.avi': [
    '-frames:v',
    '600',
    '-vf',
    'scale=320:240,noise=alls=60:allf=t',
    '-pix_fmt',
    'yuvj420p',
    '-c:v',
    'mjpeg',
    '-q:v',
    '2',
    '-an',
  ],
  'hevc.mp4': [
    '-pix_fmt',
    'yuv420p',
    '-c:v',
    'libx265',
    '-preset',
    'ultrafast',
    '-x265-params',
    'log-level=none:open-gop=1:keyint=25',
    '-an',
  ],
};
const copied: Record<string, readonly string[]> = {
  'fragments.mp4': ['-movflags', 'frag_keyframe+empty_moov+default_base_moof'],
  'with-sidx.mp4': ['-movflags', 'dash+delay_moov+frag_keyframe+global_sidx'],
};
const pathOf = (name: string): string => join(folder, name);

before(() => {
  if (skip) return;
  const outputs = Object.entries(made).flatMap(([name, encoder]) => {
    return ['-frames:v', String(frames), '-shortest', ...encoder, pathOf(name)];
  });
  runFfmpeg([...source, ...outputs]);
  const copies = Object.entries(copied).flatMap(([name, options]) => ['-c', 'copy', ...options, pathOf(name)]);
  runFfmpeg(['-i', pathOf('b-frames.mp4'), ...copies]);
  // An edit list hides what is before the cut and behind its key frame.
  runFfmpeg(['-ss', '3.1', '-i', pathOf('b-frames.mp4'), '-c', 'copy', pathOf('edited.mp4')]);
  writeFileSync(pathOf('two-parts.avi'), inTwoParts(readFileSync(pathOf('b-frames.avi'))));
  writeFileSync(pathOf('records.avi'), inRecords(readFileSync(pathOf('b-frames.avi'))));
});
after(async () => {
  await indexer.close();
  rmSync(folder, { recursive: true, force: true });
});

/** An AVI with its last frames in a part of their own, as OpenDML has files of more than a gigabyte. */
function inTwoParts(avi: Buffer): Buffer {
  const [list, index] = [avi.indexOf('movi') - 8, avi.lastIndexOf('idx1')];
  const chunks = [...chunksOf(avi, list + 12, index)];
  const { at: middle, number } = chunks[Math.floor(chunks.length * 0.7)]!;
  const part = (form: string, bytes: Buffer) => Buffer.concat([Buffer.from(form), lengthOf(bytes), bytes]);
  const movie = (bytes: Buffer) => part('LIST', Buffer.concat([Buffer.from('movi'), bytes]));
  const entries = avi.subarray(index + 8, index + 8 + 16 * number);
  const first = [avi.subarray(8, list), movie(avi.subarray(list + 12, middle)), part('idx1', entries)];
  const second = [Buffer.from('AVIX'), movie(avi.subarray(middle, index))];
  return Buffer.concat([part('RIFF', Buffer.concat(first)), part('RIFF', Buffer.concat(second))]);
}

/** An AVI whose chunks lie in small lists ("rec "), as in files that were meant for CDs. */
function inRecords(avi: Buffer): Buffer {
  const [list, index] = [avi.indexOf('movi') - 8, avi.lastIndexOf('idx1')];
  const entries = Buffer.from(avi.subarray(index + 8, index + 8 + avi.readUInt32LE(index + 4)));
  const part = (form: string, bytes: Buffer) => Buffer.concat([Buffer.from(form), lengthOf(bytes), bytes]);
  const chunks = [...chunksOf(avi, list + 12, index)];
  const records: Buffer[] = [];
  let at = 4;
  for (let first = 0; first < chunks.length; first += 5) {
    const its = chunks.slice(first, first + 5);
    at += 12;
    for (const [i, { at: from, number }] of its.entries()) {
      entries.writeUInt32LE(at, 16 * number + 8);
      at += (its[i + 1]?.at ?? chunks[first + 5]?.at ?? index) - from;
    }
    const bytes = avi.subarray(its[0]!.at, chunks[first + 5]?.at ?? index);
    records.push(part('LIST', Buffer.concat([Buffer.from('rec '), bytes])));
  }
  const movie = part('LIST', Buffer.concat([Buffer.from('movi'), ...records]));
  return part('RIFF', Buffer.concat([avi.subarray(8, list), movie, part('idx1', entries)]));
}

function* chunksOf(avi: Buffer, from: number, end: number): Generator<{ at: number; number: number }> {
  for (let at = from, number = 0; at < end; number++) {
    yield { at, number };
    const bytes = avi.readUInt32LE(at + 4);
    at += 8 + bytes + (bytes & 1);
  }
}

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return length;
}

type Told = Pick<VideoPacket, 'pts' | 'dts' | 'position' | 'size' | 'isKey' | 'isHidden'>;

/** The packets as the program ffprobe tells them, which reads all of them. */
function probed(path: string): Told[] {
  const asked = ['-select_streams', 'v:0', '-show_entries', 'packet=pts,dts,size,pos,flags', '-of', 'json'];
  const { packets } = JSON.parse(execFileSync('ffprobe', ['-v', 'quiet', ...asked, path], { encoding: 'utf8' }));
  return packets.map(({ pts, dts, pos, size, flags }: Record<string, string | number>) => ({
    pts: pts ?? null,
    dts,
    position: Number(pos),
    size: Number(size),
    isKey: String(flags).includes('K'),
    isHidden: String(flags).includes('D'),
  }));
}

const wholes = new Map<string, Told[]>();

/** The same for a file that was made at the beginning. */
function probedWhole(name: string): Told[] {
  const known = wholes.get(name) ?? probed(pathOf(name));
  wholes.set(name, known);
  return known;
}

/** The listed packets of a file, and how many of its bytes were read. */
async function listed(path: string): Promise<{ packets: Told[]; bytesRead: number; unreached: number }> {
  const bytes = readFileSync(path);
  const read = new Uint8Array(bytes.length);
  const file: VideoFile = {
    version: '1',
    access: { sizeBytes: bytes.length },
    checkVersion: async () => {},
    close: () => {},
    read: async (position, length) => {
      const part = bytes.subarray(position, position + length);
      read.fill(1, position, position + part.length);
      return part;
    },
  };
  const packets: Told[] = [];
  let unreached = 0;
  for await (const line of indexer.index(file)) {
    if (line.kind === 'unreached') unreached++;
    if (line.kind !== 'packets') continue;
    for (const { pts, dts, position, size, isKey, isHidden } of line.packets)
      packets.push({ pts, dts, position, size, isKey, isHidden });
  }
  return { packets, bytesRead: read.reduce((sum, one) => sum + one, 0), unreached };
}

for (const name of [...Object.keys(made), ...Object.keys(copied), 'edited.mp4', 'two-parts.avi', 'records.avi']) {
  test(`the packets of ${name} are listed as ffprobe reads them, and not read`, { skip }, async () => {
    const path = pathOf(name);
    const { packets, bytesRead, unreached } = await listed(path);
    assert.deepEqual(packets, probedWhole(name));
    assert.equal(unreached, 0);
    // FFmpeg reads parts that are shorter than its buffer, as fragments are here. In an intra refresh, each picture is
    // looked at. An AVI with short chunks is read whole.
    if (name in copied || name === 'refresh.mp4' || (name.endsWith('.avi') && name !== 'large.avi')) return;
    const { size } = statSync(path);
    assert.ok(bytesRead < 0.8 * size, `${bytesRead} of ${size} bytes`);
  });
}

test('a damaged key frame does not count as one, as if the file were read', { skip }, async () => {
  const path = pathOf('b-frames.mp4');
  const bytes = readFileSync(path);
  const keys = probedWhole('b-frames.mp4').filter(({ isKey }) => isKey);
  const { position } = keys.at(-3)!;
  bytes.fill(0, position, position + 4);
  const damaged = pathOf('damaged.mp4');
  writeFileSync(damaged, bytes);
  const { packets } = await listed(damaged);
  assert.equal(packets.filter(({ isKey }) => isKey).length, keys.length - 1);
  assert.deepEqual(packets, probed(damaged));
});

/** Kinds of damage to an index, or to a part of the file that it tells of; each at a chunk behind the first packets. */
const wrongAvis: Record<string, (avi: Buffer, at: number, entry: number) => Buffer | undefined> = {
  'the name of a chunk': (avi, at) => avi.fill('xx', at + 2, at + 4),
  'the length of a chunk': (avi, at) => avi.fill(7, at + 5, at + 6),
  'the mark of a key frame': (avi, _, entry) => avi.fill(0, entry + 4, entry + 8),
  'the place in the index': (avi, _, entry) => avi.fill(9, entry + 9, entry + 10),
  'an entry of the index': (avi, _, entry) => avi.fill(avi.subarray(entry + 16, entry + 32), entry, entry + 16),
  'the length of the index': (avi) => avi.fill(0, avi.lastIndexOf('idx1') + 4, avi.lastIndexOf('idx1') + 6),
  'the end of the file': (avi, at) => avi.subarray(0, at + 100),
  'no index': (avi) => avi.subarray(0, avi.lastIndexOf('idx1')),
};
for (const [what, damage] of Object.entries(wrongAvis)) {
  test(`an AVI in which ${what} is wrong is listed as if it were read`, { skip }, async () => {
    for (const name of ['b-frames.avi', 'mjpeg.avi']) {
      const avi = readFileSync(pathOf(name));
      const [movie, index] = [avi.indexOf('movi') + 4, avi.lastIndexOf('idx1')];
      const keys = probedWhole(name).filter(({ isKey }) => isKey);
      const { position } = keys.at(-3)!;
      const chunk = [...chunksOf(avi, movie, index)].find(({ at }) => at + 8 === position || at === position)!;
      const path = pathOf(`wrong-${name}`);
      writeFileSync(path, damage(avi, chunk.at, index + 8 + 16 * chunk.number)!);
      assert.deepEqual((await listed(path)).packets, probed(path), name);
    }
  });
}

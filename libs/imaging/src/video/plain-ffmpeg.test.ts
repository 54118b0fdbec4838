import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodeByFfmpeg, makeClip } from './plain-ffmpeg.ts';
import { noFfmpeg } from './testing/videos.ts';

test('decoding a clip counts the frames that were drawn, and its key frames are where they were asked for', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-clip-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'clip.mp4');
  const size = { width: 64, height: 48 };
  const frames = Array.from({ length: 25 }, (_, i) => new Uint8Array(64 * 48 * 1.5).fill(40 + 4 * i));
  await makeClip({ path, codec: 'h264', ...size, bitsASecond: 100_000, keyEvery: 10 }, frames);

  assert.equal(await decodeByFfmpeg([path, path, path], 2), 75);
  await assert.rejects(decodeByFfmpeg([join(folder, 'none.mp4')], 1), /cannot be read/);
  if (noFfmpeg) return;
  const flags = execFileSync('ffprobe', ['-v', 'error', '-show_entries', 'packet=flags', '-of', 'csv=p=0', path], {
    encoding: 'utf8',
  });
  const keys = flags
    .trim()
    .split('\n')
    .flatMap((line, i) => (line.startsWith('K') ? [i] : []));
  assert.deepEqual(keys, [0, 10, 20]);
});

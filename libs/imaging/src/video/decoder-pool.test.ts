// Decoders that are kept: what they share, and what happens to them if a file, or this process, comes to harm.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { eventually, standStill, turns, within } from '@halogrid/testing';
import { DecoderPool, type DecoderPoolOptions } from './decoder-pool.ts';
import { makeClip } from './plain-ffmpeg.ts';
import { planVideo, type VideoSegment } from './plan-video.ts';
import type { SegmentDecoder } from './segment-decoder.ts';
import { SharedMemory } from './shared-memory.ts';
import { endProcesses } from './testing/segments.ts';
import { videoProcesses } from './testing/video-processes.ts';
import { noFfmpeg, runFfmpeg } from './testing/videos.ts';
import { openVideoFile, type VideoFile } from './video-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'halogrid-pool-'));
const path = join(folder, 'clip.mp4');
const size = { width: 320, height: 200 };
const frames = 120;
let segments: VideoSegment[];
let file: VideoFile;

before(async () => {
  const planes = (_: unknown, i: number) => new Uint8Array(size.width * size.height * 1.5).fill(30 + i);
  await makeClip(
    { path, codec: 'h264', ...size, bitsASecond: 200_000, keyEvery: 20 },
    Array.from({ length: frames }, planes),
  );
  const uri = pathToFileURL(path).href;
  const parts = await Array.fromAsync(planVideo(uri, {}, () => ({ aim: 20, most: 40 })));
  segments = parts.flatMap((part) => (part.kind === 'segment' ? [part.segment] : []));
  file = await openVideoFile(uri);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const begin = (
  pool: DecoderPool,
  segment: VideoSegment,
  signal?: AbortSignal,
  { of = file, hwaccel = '' } = {},
): Promise<SegmentDecoder> => pool.decode(of, { ...segment, wanted: segment.frames, hwaccel, lead: 15 }, signal);

/** The frames of a segment that come, in rows as a device has them. */
async function finish(decoder: SegmentDecoder, notes: string[] = []): Promise<number> {
  const stride = 336;
  for (let count = 0; ; count++) {
    let event = await decoder.next();
    for (; event.kind === 'note'; event = await decoder.next()) notes.push(event.line);
    if (event.kind === 'end') return count;
    assert.ok(event.kind === 'frame', event.kind);
    const bytes = new Uint8Array(stride * size.height);
    await decoder.luma(event, { bytes, offset: 0, stride, channels: 'gray', planeBytes: 0 });
    for (const y of [0, size.height - 1]) {
      const row = bytes.subarray(y * stride, y * stride + size.width);
      assert.ok(Math.max(...row) - Math.min(...row) <= 4, 'a frame has one value, as near as it was encoded');
    }
  }
}

/** The frames of a segment that come. */
async function count(decoder: SegmentDecoder): Promise<number> {
  let frames = 0;
  for (let event = await decoder.next(); event.kind !== 'end'; event = await decoder.next())
    if (event.kind === 'frame') frames++;
  return frames;
}

async function decodeAll(pool: DecoderPool, hwaccel = '', notes: string[] = []): Promise<number> {
  const counts = await Promise.all(
    segments.map(async (segment) => {
      const decoder = await begin(pool, segment, undefined, { hwaccel });
      try {
        return await finish(decoder, notes);
      } finally {
        await decoder.close();
      }
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** A pool that is closed with the test, and the only one that has processes. */
async function poolOf(t: TestContext, options: Partial<DecoderPoolOptions> = {}): Promise<DecoderPool> {
  await endProcesses();
  const pool = new DecoderPool({ processes: 2, ...options });
  t.after(() => pool.close());
  return pool;
}

test('as many processes as there may be decode all segments, and are the same the second time', async (t) => {
  const pool = await poolOf(t);
  assert.ok(segments.length > 2);
  assert.equal(await decodeAll(pool), frames);
  const started = videoProcesses();
  assert.equal(started.length, 2);
  assert.equal(await decodeAll(pool), frames);
  assert.deepEqual(videoProcesses(), started);
  await pool.close();
  assert.deepEqual(videoProcesses(), []);
});

test('a process that has done as many segments as one may is replaced by another', async (t) => {
  const pool = await poolOf(t, { processes: 1, mostOrders: 2 });
  const seen = new Set<number>();
  for (const segment of segments.slice(0, 3)) {
    const decoder = await begin(pool, segment);
    for (const pid of videoProcesses()) seen.add(pid);
    assert.equal(await finish(decoder), segment.frames.length);
    await decoder.close();
  }
  assert.equal(seen.size, 2);
});

test('if the system has no memory to share, frames come through pipes, which is logged once', async (t) => {
  const notes: string[] = [];
  const memory = () => {
    throw new Error('the system forbids it');
  };
  const pool = await poolOf(t, { memory, note: (line) => notes.push(line) });
  assert.equal(await decodeAll(pool), frames);
  assert.deepEqual(notes, [
    'Decoders share no memory with this process (the system forbids it): frames go through pipes, more slowly',
  ]);
});

const noCard = existsSync('/dev/nvidiactl') ? 'an NVIDIA card is here' : false;

for (const hwaccel of ['cuda', 'auto']) {
  test(`with --hwaccel ${hwaccel} and no hardware all is decoded on cores`, { skip: noCard }, async (t) => {
    const notes: string[] = [];
    const pool = await poolOf(t, { hardware: 1 });
    assert.equal(await decodeAll(pool, hwaccel, notes), frames);
    // If cores are not busy for long, hardware is never asked for.
    if (hwaccel === 'cuda') assert.equal(notes.length, 1);
    else assert.ok(notes.length <= 1);
    for (const line of notes)
      assert.match(
        line,
        /^Cores decode instead of hardware: libcuda\.so\.1, which comes with NVIDIA's driver, cannot be loaded$/,
      );
  });
}

test('a machine without a card is asked for one no more, and its processes stay', { skip: noCard }, async (t) => {
  const notes: string[] = [];
  const pool = await poolOf(t);
  assert.equal(await decodeAll(pool, 'cuda', notes), frames);
  const started = videoProcesses();
  assert.equal(await decodeAll(pool, 'cuda', notes), frames);
  assert.deepEqual(videoProcesses(), started);
  assert.equal(notes.length, 1);
});

test('a process on cores gives way to a process that feeds hardware as soon as both decode', async (t) => {
  const pool = await poolOf(t, { processes: 1, hardware: 1 });
  const priorities: number[] = [];
  for (const hwaccel of ['', 'auto']) {
    const decoder = await begin(pool, segments[0]!, undefined, { hwaccel });
    const [process] = videoProcesses();
    priorities.push(getPriority(process) - getPriority());
    await finish(decoder);
    await decoder.close();
  }
  assert.deepEqual(priorities, [0, 10]);
});

/** Memory that holds two frames, so that a process cannot have decoded all frames before it comes to harm. */
const littleMemory = () => new SharedMemory(2 * 336 * size.height);

test('a process that dies costs the segment that it was at, and another takes its place', async (t) => {
  const pool = await poolOf(t, { processes: 1, memory: littleMemory });
  const decoder = await begin(pool, segments[0]!);
  assert.equal((await decoder.next()).kind, 'frame');
  const waiting = begin(pool, segments[1]!);
  const [pid] = videoProcesses();
  process.kill(pid!, 'SIGSEGV');
  await assert.rejects(finish(decoder), { name: 'DecoderBrokeError' });
  await decoder.close();
  const next = await waiting;
  assert.equal(await finish(next), segments[1]!.frames.length);
  await next.close();
  assert.notEqual(videoProcesses()[0], pid);
});

/** Lets seconds pass, on a clock that is mocked, until something is over. */
async function passTime(t: TestContext, over: Promise<unknown>): Promise<void> {
  let isOver = false;
  const noteEnd = over.finally(() => {
    isOver = true;
  });
  for (; !isOver; await turns()) t.mock.timers.tick(1_000);
  await noteEnd;
}

test('a process that is waited for in vain is ended, and says so', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const pool = await poolOf(t, { processes: 1, memory: littleMemory });
  const decoder = await begin(pool, segments[0]!);
  assert.equal((await decoder.next()).kind, 'frame');
  standStill(videoProcesses()[0]!);
  const hung = assert.rejects(finish(decoder), {
    name: 'DecoderHungError',
    message: 'The decoder gave nothing for 60 s and was ended',
  });
  await within('the end of a process that says nothing', passTime(t, hung));
  await decoder.close();
  assert.equal(await decodeAll(pool), frames);
});

test('a process that fetches from a server that is slow is not taken for one that hangs', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const pool = await poolOf(t, { processes: 1 });
  const bytes = readFileSync(path);
  const slow = async (position: number, length: number) => {
    t.mock.timers.tick(3_600_000);
    return bytes.subarray(position, position + length);
  };
  const remote: VideoFile = { ...file, access: { sizeBytes: bytes.length }, read: slow };
  const decoder = await begin(pool, segments[0]!, undefined, { of: remote });
  assert.equal(await finish(decoder), segments[0]!.frames.length);
  await decoder.close();
});

const noisyNames = ['noisy.mp4', 'noisy.mkv'];
before(() => {
  if (noFfmpeg) return;
  const source = ['-f', 'lavfi', '-i', 'color=gray:s=640x400:r=25,noise=alls=60:allf=t'];
  const encoder = ['-g', '10', '-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '10'];
  runFfmpeg([...source, ...noisyNames.flatMap((name) => ['-frames:v', '40', ...encoder, join(folder, name)])]);
});

for (const name of noisyNames) {
  test(`to decode the end of ${name}, nothing before it is read but the head of the file`, {
    skip: noFfmpeg,
  }, async (t) => {
    const noisy = join(folder, name);
    const bytes = readFileSync(noisy);
    const parts = await Array.fromAsync(planVideo(pathToFileURL(noisy).href, {}, () => ({ aim: 10, most: 40 })));
    const planned = parts.flatMap((part) => (part.kind === 'segment' ? [part.segment] : []));
    const reads: { position: number; end: number }[] = [];
    const read = async (position: number, length: number) => {
      reads.push({ position, end: position + length });
      return bytes.subarray(position, position + length);
    };
    const remote: VideoFile = { ...file, version: '1', access: { sizeBytes: bytes.length }, read };
    const decoder = await begin(await poolOf(t, { processes: 1 }), planned.at(-1)!, undefined, { of: remote });
    assert.equal(await count(decoder), planned.at(-1)!.frames.length);
    await decoder.close();
    // The head of an MP4 comes with as much behind it as is read at once; of others frames are decoded to tell what
    // they are.
    const headEnd = name.endsWith('.mp4') ? 2 ** 16 : bytes.length / 4;
    const first = planned.at(-1)!.start.position;
    const isBefore = ({ position, end }: (typeof reads)[0]) => position < first - 2 ** 16 && end > headEnd;
    assert.deepEqual(reads.filter(isBefore), []);
  });
}

test('a process that has met damage is given nothing more', async (t) => {
  const pool = await poolOf(t, { processes: 1 });
  const decoder = await begin(pool, { ...segments[0]!, frames: [{ ...segments[0]!.frames[0]!, packet: 999 }] });
  assert.equal((await decoder.next()).kind, 'bad');
  const [pid] = videoProcesses();
  assert.equal((await decoder.next()).kind, 'end');
  await decoder.close();
  const next = await begin(pool, segments[1]!);
  assert.equal(await finish(next), segments[1]!.frames.length);
  await next.close();
  assert.notEqual(videoProcesses()[0], pid);
});

test('a wait for a process ends when it is aborted', async (t) => {
  const pool = await poolOf(t, { processes: 1 });
  const decoder = await begin(pool, segments[0]!);
  const abort = new AbortController();
  const waiting = begin(pool, segments[1]!, abort.signal);
  abort.abort(new Error('not wanted'));
  await assert.rejects(waiting, { message: 'not wanted' });
  assert.equal(await finish(decoder), segments[0]!.frames.length);
  await decoder.close();
});

test('a wait that was served leaves no listener, so that aborting it later takes nobody’s turn', async (t) => {
  const pool = await poolOf(t, { processes: 1 });
  const [first, second, third] = segments as [VideoSegment, VideoSegment, VideoSegment];
  const abort = new AbortController();
  const decoder = await begin(pool, first);
  const [waited, waiting] = [begin(pool, second, abort.signal), begin(pool, third)];
  await finish(decoder);
  await decoder.close();
  const its = await waited;
  assert.deepEqual(getEventListeners(abort.signal, 'abort'), []);
  abort.abort(new Error('not wanted'));
  await its.close();
  const last = await within('the turn of the third', waiting);
  assert.equal(await finish(last), third.frames.length);
  await last.close();
});

test('no process is left if the one that started them is killed, not even a stopped one', async () => {
  const parent = fork(new URL('./testing/pool-process.ts', import.meta.url), [path], { execArgv: [] });
  const [pids] = (await within('the processes to decode', once(parent, 'message'))) as [number[]];
  assert.equal(pids.length, 2);
  standStill(pids[0]!);
  parent.kill('SIGKILL');
  await within('the end of their parent', once(parent, 'exit'));
  const isThere = (pid: number) => {
    try {
      return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  };
  await eventually('the end of both processes', () => !pids.some(isThere));
});

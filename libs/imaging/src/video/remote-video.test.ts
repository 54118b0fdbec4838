import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { InputError, restrictSources, unrestricted } from '@halogrid/sources';
import { type ServedFile, sendFile, startServer, type TestServer } from '@halogrid/sources/testing-servers';
import { eventually, isThorough } from '@halogrid/testing';
import { planVideo, type VideoSegment } from './plan-video.ts';
import { SegmentDecoder } from './segment-decoder.ts';
import { decodeInOneProcess, decodeInSegments, endProcesses, indexInProcess } from './testing/segments.ts';
import { newVideoProcesses } from './testing/video-processes.ts';
import { makeVideos, noFfmpeg, runFfmpeg, videoKinds } from './testing/videos.ts';
import { openVideoFile, type VideoFile } from './video-file.ts';

const skip = noFfmpeg;
const folder = mkdtempSync(join(tmpdir(), 'halogrid-remote-video-'));
const noise = join(folder, 'noise.mp4');
const served = new Map<string, ServedFile>();
/** Bytes of the bodies of all answers, by name. */
const sent = new Map<string, number>();
let web: TestServer;

const kinds = ['h264.mp4', 'hevc.mkv', 'h264-open.ts', 'h264-open.mkv', 'mjpeg.avi', 'mpeg4.avi'];

before(async () => {
  if (!skip) {
    makeNoise();
    makeVideos(kinds.map((kind) => ({ path: join(folder, kind), encoder: videoKinds[kind]! })));
  }
  web = await startServer((request, response) => {
    const name = request.url!.slice(1);
    const file = served.get(name);
    if (!file) return void response.writeHead(name.startsWith('secret') ? 403 : 404).end();
    sendFile(file, request, response);
    sent.set(name, (sent.get(name) ?? 0) + Number(response.getHeader('content-length') ?? 0));
  });
});
after(async () => {
  await web.close();
  rmSync(folder, { recursive: true, force: true });
});

function serve(name: string, file: ServedFile): string {
  served.set(name, file);
  sent.delete(name);
  return `${web.origin}/${name}`;
}

/** Writes a recording of some megabytes, in groups of 25 frames of noise, a second each. */
function makeNoise(): void {
  const frames = ['-f', 'lavfi', '-i', 'color=gray:s=160x120:r=25,noise=c0s=100:allf=t', '-t', '24'];
  const encoder = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '4', '-g', '25'];
  runFfmpeg([...frames, ...encoder, noise]);
}

/**
 * The first seconds of the noise, in the container that the name says, and with its index at the place that the options
 * say.
 */
function makeRecording(name: string, seconds: number, options: readonly string[] = []): Buffer {
  const path = join(folder, name);
  runFfmpeg(['-i', noise, '-t', String(seconds), '-c', 'copy', ...options, path]);
  return readFileSync(path);
}

const lengths = [
  { aim: 3, most: 20 },
  { aim: 1000, most: 1000 },
];

for (const kind of kinds) {
  test(`${kind} over HTTP gives the frames of the file, however it is cut`, { skip }, async () => {
    const path = join(folder, kind);
    const uri = serve(kind, { bytes: readFileSync(path), etag: '"1"' });
    for (const length of isThorough ? lengths : lengths.slice(0, 1)) {
      const local = await decodeInSegments(pathToFileURL(path).href, length, { decode: decodeInOneProcess });
      assert.deepEqual(await decodeInSegments(uri, length), local);
      assert.equal(local.frames.size, 48);
    }
  });
}

test('a file that is cut off lacks the same frames over HTTP', { skip }, async () => {
  const uri = serve('cut.avi', { bytes: readFileSync(join(folder, 'mjpeg.avi')).subarray(0, 60_000), etag: '"1"' });
  const { frames, bad } = await decodeInSegments(uri, lengths[1]!);
  assert.equal(frames.size + bad.size, 48);
  assert.equal(bad.get(47), 'The file ends before this frame');

  const cut = serve('cut.mp4', { bytes: readFileSync(join(folder, 'h264.mp4')).subarray(0, 5_000), etag: '"1"' });
  await assert.rejects(
    decodeInSegments(cut, lengths[1]!),
    /^InputError: The file has no index \(moov\), which tells where its frames are: /,
  );
});

async function segmentsOf(uri: string, aim = 25): Promise<VideoSegment[]> {
  const parts = await Array.fromAsync(planVideo(uri, {}, () => ({ aim, most: 1000 }), indexInProcess));
  return parts.flatMap((part) => (part.kind === 'segment' ? [part.segment] : []));
}

/** Frames of a segment that are there. */
async function decode(uri: string, { start, strictFrom, end, frames }: VideoSegment): Promise<number> {
  const file = await openVideoFile(uri);
  const decoder = new SegmentDecoder(file, { start, strictFrom, end, wanted: frames, hwaccel: '' });
  try {
    for (let count = 0; ; ) {
      const event = await decoder.next();
      if (event.kind === 'end') return count;
      assert.equal(event.kind, 'frame');
      count++;
    }
  } finally {
    await decoder.close();
    file.close();
  }
}

for (const { name, options } of [
  { name: 'index-first.mp4', options: ['-movflags', '+faststart'] },
  { name: 'index-last.mp4', options: [] },
  { name: 'packets.ts', options: [] },
]) {
  test(`for ${name}, planning fetches all once, and a segment little more than its own bytes`, { skip }, async () => {
    const bytes = makeRecording(name, 24, options);
    assert.ok(bytes.length > 10e6, `${bytes.length} bytes`);
    const uri = serve(name, { bytes, etag: '"1"' });
    const segments = await segmentsOf(uri);
    assert.equal(segments.length, 24);
    assert.ok(sent.get(name)! < bytes.length * 1.1, `${sent.get(name)} of ${bytes.length} bytes to plan`);
    sent.delete(name);
    assert.equal(await decode(uri, segments[16]!), 25);
    // Its own, the beginning and the end of the file, and what is read ahead.
    assert.ok(sent.get(name)! < bytes.length / 5, `${sent.get(name)} of ${bytes.length} bytes for one of 24 segments`);
  });
}

test('for a long MP4, planning fetches the beginning, the index and the heads of key frames', { skip }, async () => {
  const path = join(folder, 'long.mp4');
  runFfmpeg(['-stream_loop', '5', '-i', noise, '-c', 'copy', path]);
  const bytes = readFileSync(path);
  const segments = await segmentsOf(serve('long.mp4', { bytes, etag: '"1"' }));
  assert.equal(segments.length, 6 * 24);
  assert.ok(sent.get('long.mp4')! < bytes.length / 4, `${sent.get('long.mp4')} of ${bytes.length} bytes to plan`);
});

test('a video that changes is of no use to a segment that was planned before, in whatever moment', {
  skip,
}, async () => {
  const bytes = makeRecording('changing.ts', 6);
  const uri = serve('changing.ts', { bytes, etag: '"1"' });
  const [first, second] = await segmentsOf(uri);
  const file = await openVideoFile(uri);
  const decoder = new SegmentDecoder(file, { ...first!, wanted: first!.frames, hwaccel: '' });
  serve('changing.ts', { bytes, etag: '"2"' });
  await assert.rejects(
    async () => {
      while ((await decoder.next()).kind !== 'end');
    },
    { name: 'InputError', stage: 'read', message: /^The file changed while it was read: / },
  );
  await decoder.close();
  file.close();
  const now = await openVideoFile(uri);
  assert.notEqual(now.version, second!.version);
  now.close();
});

test('a server that fails in the middle is reported as such, and not as damage', { skip }, async () => {
  const bytes = makeRecording('failing.ts', 6);
  const uri = serve('failing.ts', { bytes, etag: '"1"' });
  const segments = await segmentsOf(uri);
  serve('failing.ts', { bytes, etag: '"1"', cutAfter: 100_000 });
  await assert.rejects(decode(uri, segments[4]!), {
    name: 'InputError',
    message: /^The host '127\.0\.0\.1:\d+' sent \d+ of the \d+ bytes that it announced \(4 attempts\)$/,
  });
  served.delete('failing.ts');
  await assert.rejects(decode(uri, segments[4]!), { message: /^The server has no such file: 404/ });
});

/** A video whose bytes cannot be read from `from` on. */
function withoutEnd(bytes: Buffer, from: number): VideoFile {
  const read = async (position: number, length: number) => bytes.subarray(position, Math.min(from, position + length));
  return {
    version: '1',
    access: { sizeBytes: bytes.length },
    read,
    checkVersion: async () => {},
    close: () => {},
  };
}

for (const kind of ['h264-open.ts', 'h264.mp4', 'mjpeg.avi', 'hevc.mkv']) {
  test(`bytes of ${kind} that do not come are not taken for its end, nor for damage`, { skip }, async () => {
    const path = join(folder, kind);
    const bytes = readFileSync(path);
    const [segment] = await segmentsOf(pathToFileURL(path).href, 1000);
    const half = Math.floor(bytes.length / 2);
    const expected = {
      name: 'InputError',
      stage: 'read',
      message: /^The video cannot be read: it ended at byte \d+ of \d+/,
    };
    await assert.rejects(Array.fromAsync(indexInProcess(withoutEnd(bytes, half))), expected);
    const decoder = new SegmentDecoder(withoutEnd(bytes, half), { ...segment!, wanted: segment!.frames, hwaccel: '' });
    await assert.rejects(async () => {
      for (;;) {
        const { kind: what } = await decoder.next();
        assert.notEqual(what, 'bad');
        if (what === 'end') return;
      }
    }, expected);
    await decoder.close();
  });
}

test('a failure to read a file is reported as such', async () => {
  // Nothing is at address 0 of this process.
  const mem = pathToFileURL(`/proc/${process.pid}/mem`).href;
  const file = { ...(await openVideoFile(mem)), access: { path: `/proc/${process.pid}/mem`, sizeBytes: 1000 } };
  await assert.rejects(Array.fromAsync(indexInProcess(file)), {
    name: 'InputError',
    stage: 'read',
    message: /^The video cannot be read: EIO/,
  });
});

test('a refusal of a server or of this process’s limits is reported before a process is started', {
  skip,
}, async () => {
  await assert.rejects(segmentsOf(`${web.origin}/secret.mp4`), { message: 'The server refuses access: 403 Forbidden' });
  restrictSources({ roots: [folder], hosts: [] });
  try {
    await assert.rejects(segmentsOf(`${web.origin}/h264.mp4`), { name: 'SourceForbiddenError' });
    await assert.rejects(segmentsOf('file:///etc/passwd'), { name: 'SourceForbiddenError' });
  } finally {
    restrictSources(unrestricted);
  }
});

test('from a server that cannot send parts, a short video is read and a long one is not', { skip }, async () => {
  const path = join(folder, 'h264.mp4');
  const short = serve('whole.mp4', { bytes: readFileSync(path), withoutRanges: true });
  const local = await decodeInSegments(pathToFileURL(path).href, lengths[0]!);
  assert.deepEqual(await decodeInSegments(short, lengths[0]!), local);
  const long = serve('long.mp4', { bytes: Buffer.alloc(2 ** 25 + 1), withoutRanges: true });
  await assert.rejects(
    segmentsOf(long),
    /The file is too long: at most 33554432 bytes are read of a server that cannot/,
  );
});

test('the process that decodes knows no key and no address, and a failure to fetch is reported as such', async () => {
  await endProcesses();
  const [name, key, address] = [
    'AWS_SECRET_ACCESS_KEY',
    'KEY/of+the+bucket',
    'http://archive.example/cam.mp4?token=T0KEN',
  ];
  process.env[name] = key;
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Uint8Array>();
  const file = {
    uri: address,
    version: '1',
    access: { sizeBytes: 1000 },
    read: (position: number, length: number) => {
      assert.deepEqual([position, length > 0], [0, true]);
      asked.resolve();
      return answer.promise;
    },
    checkVersion: async () => {},
    close: () => {},
  };
  const start = { packet: 0, pts: 0, dts: 0, position: 0, size: 1, isKey: true, isClean: true, isHidden: false };
  const started = newVideoProcesses();
  const decoder = new SegmentDecoder(file, { start, strictFrom: 0, end: 1, wanted: [{ packet: 0 }], hwaccel: '' });
  delete process.env[name];
  const event = decoder.next();
  event.catch(() => {});
  await asked.promise;
  const [child] = started();
  for (const what of ['cmdline', 'environ']) {
    const text = readFileSync(`/proc/${child}/${what}`, 'latin1');
    assert.ok(text.length > 0);
    for (const secret of [key, address, 'T0KEN']) assert.ok(!text.includes(secret), what);
  }
  answer.reject(new InputError('read', 'The host is gone'));
  await assert.rejects(event, { name: 'InputError', message: 'The host is gone' });
  await decoder.close();
});

test('a segment that is given up leaves no process and nothing open, whatever output was not read', {
  skip,
}, async () => {
  const bytes = makeRecording('given-up.ts', 8);
  for (const uri of [pathToFileURL(join(folder, 'given-up.ts')).href, serve('given-up.ts', { bytes, etag: '"1"' })]) {
    const [segment] = await segmentsOf(uri, 1000);
    await endProcesses();
    const pipes = () => process.getActiveResourcesInfo().filter((kind) => kind === 'PipeWrap').length;
    const before = pipes();
    const started = newVideoProcesses();
    const file = await openVideoFile(uri);
    const decoder = new SegmentDecoder(file, { ...segment!, wanted: segment!.frames, hwaccel: '' });
    assert.equal((await decoder.next()).kind, 'frame');
    assert.equal(started().length, 1);
    await decoder.close();
    file.close();
    assert.deepEqual(started(), []);
    // The system says a moment later that a process has closed its ends.
    await eventually(`no more than ${before} pipes`, () => pipes() <= before);
  }
});

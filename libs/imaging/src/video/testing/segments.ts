// For tests: all frames of a video, as nodes decode them.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sampleBytes } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources';
import type { PlaneTarget } from '../../planes/plane-target.ts';
import { DecoderPool } from '../decoder-pool.ts';
import { type IndexVideo, VideoIndexer } from '../index-video.ts';
import { planVideo, type SegmentLength, type VideoSegment } from '../plan-video.ts';
import type { SegmentRequest } from '../process/segment-request.ts';
import type { SegmentDecoder } from '../segment-decoder.ts';
import { openVideoFile, type VideoFile } from '../video-file.ts';
import type { SegmentOutcome, SegmentsOrder } from './segments-process.ts';

// A process takes 0.24 s of a core to start without its compiled code, and 0.1 s with it (measured). The program's
// launcher keeps this code, too.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'halogrid-compile-cache');

export interface Decoded {
  /** Gray by number of frame; frames that are bad in the end are missing. */
  frames: Map<number, Uint8Array>;
  bad: Map<number, string>;
  /** Milliseconds by number of frame. */
  times: Map<number, number | null>;
  segments: number;
}

let indexer = new VideoIndexer(1);
let pool = newPool();
/** All segments of a local video in one process, see `decodeInOneProcess`. */
let shared: ChildProcess | undefined;

function newPool(): DecoderPool {
  return new DecoderPool({ processes: 2, note: (line) => assert.fail(line) });
}

/**
 * Ends the processes that tests of a file share. Call it before a test that looks at running processes, or needs
 * others.
 */
export async function endProcesses(): Promise<void> {
  const [oldIndexer, oldPool, child] = [indexer, pool, shared];
  [indexer, pool, shared] = [new VideoIndexer(1), newPool(), undefined];
  const gone = child && child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
  child?.ref();
  if (gone) child!.disconnect();
  await Promise.all([oldIndexer.close(), oldPool.close(), gone]);
}
after(endProcesses);

/** Indexes in a process that is kept. */
export const indexInProcess: IndexVideo = (file) => indexer.index(file);

/** Lists the packets of a video once, however often it is then planned. */
export async function indexOnce(uri: string): Promise<IndexVideo> {
  const file = await openVideoFile(uri);
  const lines = await Array.fromAsync(indexInProcess(file));
  file.close();
  return async function* () {
    yield* lines;
  };
}

/** Decodes every segment; rows lie apart, as in a device's memory. */
export async function decodeInSegments(
  uri: string,
  length: SegmentLength,
  { decode = decodeInProcesses, index = indexInProcess, channels = 'gray' as PlaneTarget['channels'] } = {},
): Promise<Decoded> {
  const decoded: Decoded = { frames: new Map(), bad: new Map(), times: new Map(), segments: 0 };
  const segments: VideoSegment[] = [];
  for await (const part of planVideo(uri, {}, () => length, index)) {
    if (part.kind === 'missing') for (const { frame } of part.frames) decoded.bad.set(frame, part.why);
    if (part.kind !== 'segment') continue;
    assert.ok(part.segment.frames.length <= length.most);
    for (const { frame, timestampMs } of part.segment.frames) decoded.times.set(frame, timestampMs);
    segments.push(part.segment);
  }
  decoded.segments = segments.length;
  for await (const { segment, position, luma, error } of decode(uri, segments, channels)) {
    const { frame } = segments[segment]!.frames[position]!;
    if (error !== undefined) {
      decoded.bad.set(frame, error);
      decoded.frames.delete(frame);
      continue;
    }
    assert.ok(!decoded.frames.has(frame), `frame ${frame} comes twice`);
    decoded.frames.set(frame, luma!);
  }
  return decoded;
}

/** The outcome of a wanted frame of a segment: its gray, or why it is bad. */
interface FrameOutcome {
  segment: number;
  position: number;
  luma?: Uint8Array;
  error?: string;
}

const requestOf = (
  { start, strictFrom, end, frames }: VideoSegment,
  channels: PlaneTarget['channels'] = 'gray',
): SegmentRequest => ({
  start,
  strictFrom,
  end,
  channels,
  wanted: frames,
  hwaccel: '',
});

async function openVersion(uri: string, segments: readonly VideoSegment[]): Promise<VideoFile> {
  const file = await openVideoFile(uri, segments[0]?.version);
  for (const { version } of segments) assert.equal(file.version, version);
  return file;
}

/** Decodes in processes that share memory with this one and are kept, as nodes decode. */
export async function* decodeInProcesses(
  uri: string,
  segments: readonly VideoSegment[],
  channels?: PlaneTarget['channels'],
): AsyncGenerator<FrameOutcome> {
  for (const [segment, planned] of segments.entries()) {
    const file = await openVersion(uri, [planned]);
    const decoder = await pool.decode(file, requestOf(planned, channels));
    try {
      yield* outcomesOf(decoder, segment, channels ?? 'gray');
    } finally {
      await decoder.close();
      file.close();
    }
  }
}

async function* outcomesOf(
  decoder: SegmentDecoder,
  segment: number,
  channels: PlaneTarget['channels'],
): AsyncGenerator<FrameOutcome> {
  for (let event = await decoder.next(); event.kind !== 'end'; event = await decoder.next()) {
    if (event.kind === 'note') assert.fail(event.line);
    if (event.kind === 'created') continue;
    const { position } = event;
    if (event.kind === 'bad') {
      yield { segment, position, error: event.error };
      continue;
    }
    const rowBytes = event.width * sampleBytes[event.pixel];
    const stride = rowBytes + 6;
    const planeBytes = stride * event.height + 10;
    const bytes = new Uint8Array(planeBytes * event.planes + 3);
    await decoder.luma(event, { bytes, offset: 3, stride, channels, planeBytes });
    const rows = Array.from({ length: event.planes * event.height }, (_, row) => {
      const from = 3 + Math.floor(row / event.height) * planeBytes + (row % event.height) * stride;
      return bytes.subarray(from, from + rowBytes);
    });
    yield { segment, position, luma: Buffer.concat(rows) };
  }
}

const program = fileURLToPath(new URL('./segments-process.ts', import.meta.url));

/**
 * Decodes all segments of a local video in one process, with the code of nodes: many times as fast. One video at a
 * time.
 */
export async function* decodeInOneProcess(
  uri: string,
  segments: readonly VideoSegment[],
  channels?: PlaneTarget['channels'],
): AsyncGenerator<FrameOutcome> {
  const file = await openVersion(uri, segments);
  // Without the options of a process that runs tests.
  shared ??= fork(program, { serialization: 'advanced', execArgv: [] });
  const child = shared;
  child.ref();
  child.channel!.ref();
  try {
    child.send({
      access: file.access,
      requests: segments.map((segment) => requestOf(segment, channels)),
    } satisfies SegmentsOrder);
    let segment = 0;
    for await (const [outcome] of on(child, 'message', { close: ['exit'] }) as AsyncIterable<[SegmentOutcome]>) {
      if (outcome.kind === 'refused') throw new InputError(outcome.stage, outcome.error);
      for (const event of outcome.events) {
        if (event.kind === 'note') assert.fail(event.line);
        if (event.kind === 'created') continue;
        if (event.kind === 'bad') yield { segment, position: event.position, error: event.error };
        else yield { segment, position: event.position, luma: Buffer.from(event.luma) };
      }
      if (++segment === segments.length) return;
    }
    assert.fail(`The process ended after ${segment} of ${segments.length} segments`);
  } catch (error) {
    // The process has more to say about this video, so it must not serve another.
    shared = undefined;
    child.disconnect();
    throw error;
  } finally {
    // It ends with this process.
    child.unref();
    child.channel?.unref();
    file.close();
  }
}

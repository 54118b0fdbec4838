// A process that reads one video and does nothing else, because FFmpeg may be brought down by a damaged one. It takes an
// order as JSON from stdin, asks at a socket for the bytes of a video without a path (serve-ranges.ts), and answers on stdout:
// lines of JSON to 'index'; to 'decode' records of a head of 32 bytes (four doubles: position or -1, width, height, bytes that
// follow) and the bytes: luma, or of -1 JSON, the last of which says how it ended.
import { readFileSync, writeSync } from 'node:fs';
import { InputError } from '@halogrid/sources/input-error';
import type { VideoFile } from '../video-file.ts';
import { decodeSegment, type SegmentRequest } from './decode-segment.ts';
import { loadFfmpeg, logFatal } from './ffmpeg.ts';
import { indexPackets } from './index-packets.ts';
import { LumaWriter } from './luma-writer.ts';
import { openVideoBytes } from './video-bytes.ts';

/** What the process is told to do. */
export type VideoTask = { kind: 'index' } | { kind: 'decode'; request: SegmentRequest };

type VideoOrder = VideoTask & { access: VideoFile['access'] };

/** What it says beside frames. */
export type VideoMessage =
  | { kind: 'bad'; position: number; error: string }
  | { kind: 'created' /** Since 1970 in UTC. */; ms: number }
  | { kind: 'note'; line: string }
  | { kind: 'refused'; stage: 'read' | 'decode'; error: string }
  | { kind: 'end' /** Encoded, of the packets that were read. */; inputBytes: number };

export const headBytes = 32;

function main(): void {
  const order = JSON.parse(readFileSync(0, 'utf8')) as VideoOrder;
  const say = order.kind === 'index' ? (message: object) => write(`${JSON.stringify(message)}\n`) : sayMessage;
  try {
    const ffmpeg = loadFfmpeg();
    ffmpeg.Log.setLevel(logFatal);
    const bytes = openVideoBytes(order.access);
    if (order.kind === 'index') {
      for (const line of indexPackets(ffmpeg, bytes)) say(line);
    } else {
      const writer = new LumaWriter();
      const inputBytes = decodeSegment(ffmpeg, bytes, order.request, {
        frame: (position, plane) => {
          const luma = writer.packed(plane);
          sayRecord([position, plane.width, plane.height, luma.length], luma);
        },
        bad: (position, error) => sayMessage({ kind: 'bad', position, error }),
        created: (ms) => sayMessage({ kind: 'created', ms }),
        note: (line) => sayMessage({ kind: 'note', line }),
      });
      say({ kind: 'end', inputBytes });
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    say({ kind: 'refused', stage: error.stage, error: error.message });
  }
}

function sayMessage(message: object): void {
  const text = Buffer.from(JSON.stringify(message));
  sayRecord([-1, 0, 0, text.length], text);
}

function sayRecord(head: number[], bytes: Uint8Array): void {
  write(new Uint8Array(Float64Array.from(head).buffer));
  write(bytes);
}

/** Waits until the reader has taken it: that is what keeps a decoder from running ahead. */
function write(data: string | Uint8Array): void {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}

if (import.meta.main) {
  main();
  process.exit(0);
}

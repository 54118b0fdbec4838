// A process that uses FFmpeg as its own programs do. Its order is its argument, as JSON. 'version' prints FFmpeg's
// version. For benchmarks, 'null' decodes videos whose paths are lines of stdin, as JSON, and prints the number of
// frames of each; 'clip' encodes frames from stdin.
import { readSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { decodeToNull, openNullHardware } from './decode-to-null.ts';
import { type ClipOrder, type Encoders, encodeClip } from './encode-clip.ts';
import { loadFfmpeg, logFatal } from './ffmpeg.ts';

export type PlainOrder = { kind: 'version' } | { kind: 'null'; hwaccel: string } | { kind: 'clip'; order: ClipOrder };

/** The next frame of stdin; undefined at its end. */
function readFrame(bytes: number): Buffer | undefined {
  const frame = Buffer.alloc(bytes);
  for (let done = 0; done < bytes; ) {
    const read = readSync(0, frame, done, bytes - done, null);
    if (read === 0) return undefined;
    done += read;
  }
  return frame;
}

async function main(asked: PlainOrder): Promise<void> {
  const ffmpeg = loadFfmpeg();
  ffmpeg.Log.setLevel(logFatal);
  if (asked.kind === 'version') process.stdout.write(ffmpeg.getFFmpegInfo().version);
  else if (asked.kind === 'clip') {
    const { width, height } = asked.order;
    const planesBytes = width * height + 2 * Math.ceil(width / 2) * Math.ceil(height / 2);
    encodeClip(ffmpeg as unknown as Encoders, asked.order, () => readFrame(planesBytes));
  } else {
    const hardware = asked.hwaccel ? openNullHardware(ffmpeg, asked.hwaccel) : undefined;
    for await (const path of createInterface({ input: process.stdin }))
      process.stdout.write(`${decodeToNull(ffmpeg, JSON.parse(path), hardware)}\n`);
    hardware?.context.free();
  }
}

if (import.meta.main) {
  await main(JSON.parse(process.argv[2]!));
  process.exit(0);
}

// A process for benchmarks that does with FFmpeg what its own programs do: its order is its argument, as JSON. 'null' decodes videos
// one after another and prints the number of frames; 'clip' encodes frames from stdin.
import { readSync } from 'node:fs';
import { decodeToNull, openNullHardware } from './decode-to-null.ts';
import { type ClipOrder, type Encoders, encodeClip } from './encode-clip.ts';
import { loadFfmpeg, logFatal } from './ffmpeg.ts';

export type PlainOrder =
  | { kind: 'null'; paths: readonly string[]; hwaccel: string }
  | { kind: 'clip'; order: ClipOrder };

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

function main(asked: PlainOrder): void {
  const ffmpeg = loadFfmpeg();
  ffmpeg.Log.setLevel(logFatal);
  if (asked.kind === 'clip') {
    const { width, height } = asked.order;
    const planesBytes = width * height + 2 * Math.ceil(width / 2) * Math.ceil(height / 2);
    encodeClip(ffmpeg as unknown as Encoders, asked.order, () => readFrame(planesBytes));
  } else {
    let frames = 0;
    const hardware = asked.hwaccel ? openNullHardware(ffmpeg, asked.hwaccel) : undefined;
    for (const path of asked.paths) frames += decodeToNull(ffmpeg, path, hardware);
    hardware?.context.free();
    process.stdout.write(String(frames));
  }
}

if (import.meta.main) {
  main(JSON.parse(process.argv[2]!));
  process.exit(0);
}

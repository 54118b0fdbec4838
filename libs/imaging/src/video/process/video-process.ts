// A process that reads videos and does nothing else, because a damaged video may bring FFmpeg down. It takes orders one
// after another (video-protocol.ts), and asks at a socket for the bytes of a video without a path (serve-ranges.ts). It
// ends with the process that started it, or when that gives no more orders. Its argument: the bytes of the memory for
// luma that both have mapped; 0 for none.
import { InputError } from '@halogrid/sources/input-error';
import { keepCompiledCode } from '../../keep-compiled-code.ts';
import { Answers } from './answers.ts';
import { decodeSegment } from './decode-segment.ts';
import { type Ffmpeg, loadFfmpeg, logFatal } from './ffmpeg.ts';
import { indexPackets } from './index-packets.ts';
import { dieWithParent, mapMemory, viewMemory } from './libc.ts';
import { closeHardware } from './open-decoder.ts';
import { setHardwareTarget } from './open-nvdec.ts';
import type { OpenedVideo } from './segment-readers.ts';
import { openVideoBytes, type VideoBytes } from './video-bytes.ts';
import { memoryFd, type VideoOrder } from './video-protocol.ts';

type Task = Exclude<VideoOrder, { kind: 'freed' }>;

/** The video of the last order; the next order is often for the same video. */
let last: { name: string; video: OpenedVideo } | undefined;

function openOnce({ access, version }: Task, alive: () => void): OpenedVideo {
  const name = JSON.stringify([access, version]);
  if (last?.name === name) return last.video;
  closeLast();
  const bytes = openVideoBytes(access);
  const read: VideoBytes['read'] = (...range) => {
    alive();
    return bytes.read(...range);
  };
  last = { name, video: { bytes: { ...bytes, read } } };
  return last.video;
}

function closeLast(): void {
  last?.video.spare?.close();
  last?.video.bytes.close();
  last = undefined;
}

function obey(ffmpeg: Ffmpeg, task: Task, answers: Answers): void {
  answers.begun();
  try {
    const video = openOnce(task, () => answers.alive());
    if (task.kind === 'index') {
      for (const line of indexPackets(ffmpeg, video.bytes)) {
        if (line.kind === 'end') answers.message({ kind: 'listed', last: line });
        else answers.message(line);
      }
      answers.message({ kind: 'end', inputBytes: 0 });
      return;
    }
    const inputBytes = decodeSegment(ffmpeg, video, task.request, {
      frame: (position, pixels) => {
        if (pixels.mended !== undefined) answers.message({ kind: 'mended', mended: pixels.mended });
        answers.frame(position, pixels, task.request.lead);
      },
      bad: (position, error) => answers.message({ kind: 'bad', position, error }),
      created: (ms) => answers.message({ kind: 'created', ms }),
      note: (line) => answers.message({ kind: 'note', line }),
      hardware: (found) => answers.message({ kind: 'hardware', ...found }),
    });
    answers.message({ kind: 'end', inputBytes });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    closeLast();
    answers.message({ kind: 'refused', stage: error.stage, error: error.message });
  }
}

function main(memoryBytes: number): void {
  dieWithParent();
  const memory = memoryBytes > 0 ? viewMemory(mapMemory(memoryFd, memoryBytes), memoryBytes) : undefined;
  if (memory) setHardwareTarget(memory);
  const answers = new Answers(memory);
  const ffmpeg = loadFfmpeg();
  ffmpeg.Log.setLevel(logFatal);
  keepCompiledCode();
  for (let task = answers.orders.next(); task; task = answers.orders.next()) obey(ffmpeg, task, answers);
  closeLast();
  closeHardware();
}

if (import.meta.main) {
  main(Number(process.argv[2]));
  process.exit(0);
}

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFrames } from '@halogrid/bench/make-frames';
import { openScene } from '@halogrid/bench/scene';
import { spreadOf } from '@halogrid/bench/statistics';
import { withTimedDevice } from '@halogrid/bench/timed-device';
import type { Size } from '@halogrid/geometry';
import type { DecodeChoice } from '@halogrid/gpu-node/decode-choice';
import { decodeJpeg } from '@halogrid/imaging';
import { table } from '@halogrid/service/text-table';
import { timeFedNode } from './fed-node.ts';
import { type JpegTimes, timeJpegs } from './time-jpegs.ts';

export interface BenchJpegOptions {
  device: 'gpu' | 'software';
  qualities: readonly number[];
  /** Frames decoded at once. */
  batch: number;
  width: number;
  height: number;
  /** A photograph whose parts are the frames; a synthetic scene unless given. */
  scene?: string;
  repetitions: number;
  /** Frames for the node; `defaultFedFrames` unless given; 0: none. */
  frames?: number;
  /** Values of `--decode` of the node, in turns; all unless given. */
  decode?: readonly DecodeChoice[];
}

/** A software device decodes ten frames of 1080p a second. */
const defaultFedFrames = { gpu: 20_000, software: 0 } as const;
/** Runs of the node; the table shows their median. */
const fedRepetitions = 3;

/**
 * Times decoding of JPEG frames to luma on a GPU alone, by its own clock, from files in its memory to planes. Compares
 * the planes with the result of libjpeg-turbo. Then gives a node frames from files. Returns both tables for each
 * quality.
 */
export async function benchJpeg(options: BenchJpegOptions, note: (line: string) => void): Promise<string> {
  const tables: string[] = [];
  for (const quality of options.qualities) {
    const fed = options.frames ?? defaultFedFrames[options.device];
    const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
    try {
      const files = await drawFrames(options, quality, Math.max(fed, options.batch), folder);
      const bytes = files.reduce((sum, file) => sum + file.length, 0) / files.length;
      note(`${files.length} JPEG frames of quality ${quality}, ${Math.round(bytes / 1000)} kB each`);
      const what = `quality ${quality}, ${Math.round(bytes / 1000)} kB`;
      tables.push(await measure(files.slice(0, options.batch), options, what));
      if (fed > 0) tables.push(await feed(folder, fed, options, what, note));
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }
  return tables.join('\n');
}

async function drawFrames(
  { width, height, scene }: BenchJpegOptions,
  quality: number,
  count: number,
  folder: string,
): Promise<Buffer[]> {
  const size = { width, height };
  return makeFrames(join(folder, 'frames'), count, size, { kind: 'jpg', quality }, await openScene(size, scene));
}

/** A table of a node that gets `count` of the frames in the folder. */
async function feed(
  folder: string,
  count: number,
  { device, width, height, decode: decodes }: BenchJpegOptions,
  what: string,
  note: (line: string) => void,
): Promise<string> {
  const frames = join(folder, 'frames');
  const names = (await readdir(frames)).toSorted().slice(0, count);
  const options = { device, folder: frames, names, frameBytes: width * height, repetitions: fedRepetitions, decodes };
  const measured = await timeFedNode(options, note);
  return table([
    [`a node fed ${count} files, ${what}`, 'frames/s', 'min', 'max', 'cores busy'],
    ...measured.map(({ decode, rates, coreSeconds }) => {
      const { median, min, max } = spreadOf(rates);
      const cores = spreadOf(coreSeconds).median;
      return [`--decode ${decode}`, ...[median, min, max].map((rate) => rate.toFixed(0)), cores.toFixed(1)];
    }),
  ]);
}

function measure(files: readonly Buffer[], options: BenchJpegOptions, what: string): Promise<string> {
  const { device: kind, batch, repetitions, width, height } = options;
  const size = { width, height };
  return withTimedDevice(kind, async (device, info, check) => {
    const times = await timeJpegs(device, files, { batch, size, repetitions });
    check('jpeg');
    return render(times, await countEqual(files, times.planes, size), { title: `${info.name}, ${what}`, batch });
  });
}

/** The number of planes that equal the result of libjpeg-turbo. */
async function countEqual(files: readonly Buffer[], planes: readonly Uint8Array[], size: Size): Promise<number> {
  let equal = 0;
  for (const [i, file] of files.entries()) {
    const bytes = new Uint8Array(size.width * size.height);
    await decodeJpeg(file, { bytes, offset: 0, stride: size.width, channels: 'gray', planeBytes: bytes.length });
    if (Buffer.compare(bytes, planes[i]!) === 0) equal++;
  }
  return equal;
}

function render(times: JpegTimes, equal: number, { title, batch }: { title: string; batch: number }): string {
  const row = (name: string, samplesMs: readonly number[]) => {
    const { median, min, max } = spreadOf(samplesMs);
    return [name, ...[median, min, max].map((ms) => ((1000 * ms) / batch).toFixed(2))];
  };
  const whole = spreadOf(times.wholeMs).median;
  return [
    table([
      [title, 'µs a frame', 'min', 'max'],
      ...[...times.stagesMs].map(([name, samples]) => row(name, samples)),
      row('all in one pass', times.wholeMs),
    ]),
    `${Math.round((1000 * batch) / whole)} frames/s in batches of ${batch}; `,
    `${times.fine} of ${batch} decoded, ${equal} of ${times.planes.length} different ones equal to libjpeg-turbo\n`,
  ].join('');
}

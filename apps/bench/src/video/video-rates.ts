import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { DecoderPool, openVideoFile, planVideo, type VideoSegment } from '@halogrid/imaging';
import { decodeByFfmpeg } from '@halogrid/imaging/plain-ffmpeg';
import { spreadOf } from '../timing/statistics.ts';
import { measureWholeTimes } from '../timing/whole-times.ts';
import { hasOpencv, opencvRate } from './opencv-pool.ts';

/** Frames a second by what was measured, in the order of the table. */
export type Rates = Record<string, number>;

export const kernelAlone = 'the kernel alone';

/** Takes items in turn on so many lanes. */
async function onLanes<T>(items: readonly T[], lanes: number, act: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < items.length) await act(items[next++]!);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
}

interface Planned {
  uri: string;
  segments: VideoSegment[];
  width: number;
  height: number;
}

async function plan(path: string): Promise<Planned> {
  const planned: Planned = { uri: pathToFileURL(path).href, segments: [], width: 0, height: 0 };
  for await (const part of planVideo(planned.uri, {}, () => ({ aim: 128, most: 256 }))) {
    if (part.kind === 'segment') planned.segments.push(part.segment);
    if (part.kind === 'video') [planned.width, planned.height] = [part.width, part.height];
  }
  return planned;
}

/** Our decoders without a node: luma of every frame in memory. */
async function decodeSegments(recordings: readonly Planned[], pool: DecoderPool, hwaccel: string): Promise<void> {
  const all = recordings.flatMap(({ uri, segments }) => segments.map((segment) => ({ uri, segment })));
  // As many as are decoded, and as many that are ready to be, as a node has them.
  await onLanes(all, 2 * pool.processes, async ({ uri, segment: { start, strictFrom, end, frames } }) => {
    const file = await openVideoFile(uri);
    const decoder = await pool.decode(file, { start, strictFrom, end, wanted: frames, hwaccel });
    try {
      let bytes = new Uint8Array(0);
      for (let event = await decoder.next(); event.kind !== 'end'; event = await decoder.next()) {
        if (event.kind !== 'frame') continue;
        const stride = event.width * (event.pixel === 'u8' ? 1 : 2);
        if (bytes.length < stride * event.height) bytes = new Uint8Array(stride * event.height);
        await decoder.luma(event, { bytes, offset: 0, stride, channels: 'gray', planeBytes: 0 });
      }
    } finally {
      await decoder.close();
      file.close();
    }
  });
}

/** The program ffmpeg, where it is installed. */
const runProgram = (path: string) =>
  promisify(execFile)('ffmpeg', ['-v', 'error', '-threads', '1', '-i', path, '-f', 'null', '-']);

/** Processes that FFmpeg decodes with in hardware: more gave no more frames on seven engines (measured on an H200). */
const ffmpegInHardware = 8;

/** How a way to decode is called: by `--hwaccel`, or cores. */
export const wayOf = (hwaccel: string): string => hwaccel || 'cores';

/** Rates by their names, which count together. */
export interface Bound {
  name: string;
  rates: readonly string[];
}

/** What may be measured of recordings that are copies of one. */
export interface VideoRates {
  frames: number;
  /** Measures all once, and tells of each as soon as it is known. */
  measure(note: (line: string) => void): Promise<Rates>;
  /** Rates that bound end to end, decoded that way. */
  boundsOf(way: string): Bound[];
  close(): Promise<void>;
}

/** `withKernel`: the default kernel on the cpu device, too; `ways`: to decode, as of `--hwaccel`, and '' for cores. */
export async function ratesOf(
  recordings: readonly string[],
  processes: number,
  { withKernel, ways }: { withKernel: boolean; ways: readonly string[] },
): Promise<VideoRates> {
  const first = await plan(recordings[0]!);
  const planned = recordings.map((path) => {
    const uri = pathToFileURL(path).href;
    return { ...first, uri };
  });
  const frames = first.segments.reduce((sum, segment) => sum + segment.frames.length, 0) * recordings.length;
  const hasProgram = await promisify(execFile)('ffmpeg', ['-version']).then(
    () => true,
    () => false,
  );
  const program = `ffmpeg -f null, ${processes} processes`;
  const ffmpeg = `FFmpeg of the package, ${processes} processes`;
  const thenKernel = 'FFmpeg of the package, then the kernel';
  const inHardware = (method: string) => `FFmpeg with ${method}, ${ffmpegInHardware} processes`;
  const decoders = (way: string) => `decoders alone, ${wayOf(way)}`;
  /** That FFmpeg has, as far as is known. */
  const methods = new Set(ways.filter((way) => way !== '' && way !== 'auto'));
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startedMs = performance.now();
    await work();
    return frames / ((performance.now() - startedMs) / 1000);
  };
  const hasPool = await hasOpencv();
  const pool = new DecoderPool({ processes });
  const measure = async (note: (line: string) => void): Promise<Rates> => {
    const rates: Rates = {};
    const tell = (name: string, rate: number): void => {
      rates[name] = rate;
      note(`${name}: ${rate.toFixed(0)} frames/s`);
    };
    if (hasProgram) tell(program, await timed(() => onLanes(recordings, processes, runProgram)));
    const plain = await timed(() => decodeByFfmpeg(recordings, processes));
    tell(ffmpeg, plain);
    if (withKernel) {
      const kernel = await kernelRate(first);
      tell(kernelAlone, kernel);
      tell(thenKernel, 1 / (1 / plain + 1 / kernel));
    }
    if (hasPool) tell(`OpenCV and NumPy, ${processes} processes`, await opencvRate(recordings, processes));
    for (const method of [...methods]) {
      try {
        tell(inHardware(method), await timed(() => decodeByFfmpeg(recordings, ffmpegInHardware, method)));
      } catch (error) {
        methods.delete(method);
        note(`${inHardware(method)}: ${(error as Error).message}`);
      }
    }
    for (const way of ways) tell(decoders(way), await timed(() => decodeSegments(planned, pool, way)));
    return rates;
  };
  const alone = (name: string): Bound => ({ name, rates: [name] });
  const boundsOf = (way: string): Bound[] => {
    const both = { name: 'FFmpeg on both, added', rates: [ffmpeg, ...[...methods].map(inHardware)] };
    const onCores = [...(hasProgram ? [program] : []), ffmpeg, ...(withKernel ? [thenKernel] : [])];
    const byFfmpeg = way === '' ? onCores.map(alone) : methods.has(way) ? [alone(inHardware(way))] : [];
    return [...byFfmpeg, ...(way === 'auto' ? [both] : []), alone(decoders(way))];
  };
  return { frames, measure, boundsOf, close: () => pool.close() };
}

/** Frames a second of the default kernel on all threads of the cpu device, of pixels that are in memory. */
async function kernelRate(size: Planned): Promise<number> {
  const images = 128;
  const lbp = { name: 'lbp', operations: [{ kernel: 'lbp', parameters: {} }], output: 'histogram' as const };
  const { rows } = await measureWholeTimes({
    kind: 'cpu',
    size,
    cases: [lbp],
    repetitions: 3,
    imagesPerSample: images,
  });
  return images / (spreadOf(rows[0]!.samplesMs).median / 1000);
}

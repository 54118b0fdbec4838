import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { DecoderPool } from '@halogrid/imaging';
import { decodeByFfmpeg } from '@halogrid/imaging/plain-ffmpeg';
import { limitConcurrency } from '@halogrid/threads';
import { decodeRecordings, planRecording } from './decode-recordings.ts';
import { measureKernel } from './kernel-alone.ts';
import { type Measured, measureWork } from './measured.ts';
import { hasOpencv, opencvRate } from './opencv-pool.ts';

/** Measurements by name, in the order of the table. */
export type MeasuredRates = Record<string, Measured>;

/** Decodes a recording with the program ffmpeg. */
const runProgram = (path: string) =>
  promisify(execFile)('ffmpeg', ['-v', 'error', '-threads', '1', '-i', path, '-f', 'null', '-']);

/** Decodes recordings, a process each, `processes` at once. */
async function runPrograms(paths: readonly string[], processes: number): Promise<void> {
  const limit = limitConcurrency(processes);
  await Promise.all(paths.map((path) => limit(() => runProgram(path))));
}

/** Processes of FFmpeg in hardware. More gave no more frames on seven engines (measured on an H200). */
const ffmpegInHardware = 8;
/** The method of `auto` beside cores. */
const cuda = 'cuda';
const kernelAlone = 'the kernel alone';
const thenKernel = 'FFmpeg of the package, then the kernel';
/** Cores and card at the same time, each with its share of the recordings: the sum of both rates. */
const onBoth = 'FFmpeg on both, side by side';

/** The name of a way to decode: the value of `--hwaccel`, or cores. */
export const wayOf = (hwaccel: string): string => hwaccel || 'cores';

/** Measurements of recordings that are copies of one. */
export interface VideoRates {
  frames: number;
  /** Measures everything once. Calls `note` with each result. */
  measure(note: (line: string) => void): Promise<MeasuredRates>;
  /** Names of the measurements that bound a job that decodes that way. */
  boundsOf(way: string): string[];
  close(): Promise<void>;
}

export interface RatesOptions {
  /** Also measures the default kernel on the cpu device. */
  withKernel: boolean;
  /** Also measures the decoders of halogrid without a node. */
  withDecoders: boolean;
  /** Ways to decode: values of `--hwaccel`, and '' for cores. */
  ways: readonly string[];
  /** Whether the device turns luma into gray. */
  asDecoded: boolean;
}

export async function ratesOf(
  recordings: readonly string[],
  processes: number,
  { withKernel, withDecoders, ways, asDecoded }: RatesOptions,
): Promise<VideoRates> {
  const first = await planRecording(recordings[0]!);
  const planned = recordings.map((path) => ({ ...first, uri: pathToFileURL(path).href }));
  const perFile = first.segments.reduce((sum, segment) => sum + segment.frames.length, 0);
  const hasProgram = await promisify(execFile)('ffmpeg', ['-version']).then(
    () => true,
    () => false,
  );
  const program = `ffmpeg -f null, ${processes} processes`;
  const ffmpeg = `FFmpeg of the package, ${processes} processes`;
  const opencv = `OpenCV and NumPy, ${processes} processes`;
  const inHardware = (method: string) => `FFmpeg with ${method}, ${ffmpegInHardware} processes`;
  const decoders = (way: string) => `decoders alone, ${wayOf(way)}`;
  /** Methods of FFmpeg that have not failed so far. */
  const methods = new Set(ways.filter((way) => way !== '' && way !== 'auto'));
  const hasPool = await hasOpencv();
  const pool = new DecoderPool({ processes });
  const plain = (paths: readonly string[]) =>
    measureWork(perFile * paths.length, () => decodeByFfmpeg(paths, processes));
  const hardware = (paths: readonly string[], method: string) =>
    measureWork(perFile * paths.length, () => decodeByFfmpeg(paths, ffmpegInHardware, method));
  const timed = (work: () => Promise<unknown>) => measureWork(perFile * recordings.length, work);

  const measure = async (note: (line: string) => void): Promise<MeasuredRates> => {
    const sample: MeasuredRates = {};
    const tell = (name: string, measured: Measured): void => {
      sample[name] = measured;
      note(`${name}: ${measured.rate.toFixed(0)} frames/s`);
    };
    if (hasProgram) tell(program, await timed(() => runPrograms(recordings, processes)));
    const alone = await plain(recordings);
    tell(ffmpeg, alone);
    if (withKernel) {
      const kernel = await measureKernel(first);
      tell(kernelAlone, kernel);
      const coresMs = alone.coresMs === undefined ? undefined : alone.coresMs + kernel.coresMs!;
      tell(thenKernel, { rate: 1 / (1 / alone.rate + 1 / kernel.rate), coresMs });
    }
    if (hasPool) {
      let rate = 0;
      const { coresMs } = await timed(async () => {
        rate = await opencvRate(recordings, processes);
      });
      tell(opencv, { rate, coresMs });
    }
    for (const method of [...methods]) {
      try {
        tell(inHardware(method), await hardware(recordings, method));
      } catch (error) {
        methods.delete(method);
        note(`${inHardware(method)}: ${(error as Error).message}`);
      }
    }
    if (ways.includes('auto') && methods.has(cuda)) {
      const [onCores, onCard] = shareOut(recordings, [alone.rate, sample[inHardware(cuda)]!.rate]);
      const both = await Promise.all([plain(onCores), hardware(onCard, cuda)]);
      tell(onBoth, { rate: both[0].rate + both[1].rate });
    }
    for (const way of withDecoders ? ways : [])
      tell(decoders(way), await timed(() => decodeRecordings(planned, pool, { hwaccel: way, asDecoded })));
    return sample;
  };
  const boundsOf = (way: string): string[] => {
    const onCores = [
      ...(hasProgram ? [program] : []),
      ffmpeg,
      ...(withKernel ? [thenKernel] : []),
      ...(hasPool ? [opencv] : []),
    ];
    const byFfmpeg = way === '' ? onCores : methods.has(way) ? [inHardware(way)] : [];
    return [
      ...byFfmpeg,
      ...(way === 'auto' && methods.has(cuda) ? [onBoth] : []),
      ...(withDecoders ? [decoders(way)] : []),
    ];
  };
  return { frames: perFile * recordings.length, measure, boundsOf, close: () => pool.close() };
}

/** Recordings in two parts, in proportion to the rates, each with at least one. */
function shareOut(recordings: readonly string[], [a, b]: readonly [number, number]): [string[], string[]] {
  const cut = Math.round((recordings.length * a) / (a + b));
  const at = Math.min(Math.max(1, cut), recordings.length - 1);
  return [recordings.slice(0, at), recordings.slice(at)];
}

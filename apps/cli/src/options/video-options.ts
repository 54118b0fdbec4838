import { hwaccels, maxEvery, type VideoOptions } from '@halogrid/proto';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';
import { parseWord, wholeNumber } from './option-values.ts';

/** What the options of `addVideoOptions` parse to. */
export interface VideoChoice {
  every?: number;
  from?: number;
  to?: number;
  fps?: { num: number; den: number };
  hwaccel?: string | undefined;
}

/** Adds the options that say which frames of videos are taken, and how they are decoded. */
export function addVideoOptions(command: Command): Command {
  return command
    .option('--every <n>', 'videos: take every n-th frame', wholeNumber('--every', 1, maxEvery))
    .option('--from <time>', 'videos: start at this time, in seconds or HH:MM:SS.mmm', readTime('--from'))
    .option('--to <time>', 'videos: end before this time', readTime('--to'))
    .option('--fps <f>', 'videos: take this many frames per second, each the first one at or after its time', readRate)
    .option('--hwaccel <name>', `decode videos in hardware: ${hwaccels.join(', ')}, none (default: none)`, readHwaccel);
}

const onCores = 'none';
const readName = parseWord('--hwaccel', [...hwaccels, onCores]);

/** Parses the value of --hwaccel into the value that jobs have; undefined for decoding on cores. Throws UsageError. */
export const readHwaccel = Object.assign(
  (text: string): string | undefined => {
    const chosen = readName(text);
    return chosen === onCores ? undefined : chosen;
  },
  { choices: [...hwaccels, onCores] },
);

/** The options as a field of the job; undefined if none was given. Throws UsageError. */
export function videoOptions({ every, from, to, fps, hwaccel }: VideoChoice): VideoOptions | undefined {
  if ([every, from, to, fps, hwaccel].every((value) => value === undefined)) return undefined;
  if (every !== undefined && fps)
    throw new UsageError(sentence`Expected ${named('--every')} or ${named('--fps')} but received both`);
  if (to !== undefined && to <= (from ?? 0)) {
    throw new UsageError(
      sentence`Expected a time after that of ${named('--from')} (${(from ?? 0) / 1000} s) for ${named('--to')} but received ${to / 1000} s`,
      { field: '--to' },
    );
  }
  const rate = { fpsNum: fps?.num ?? 0, fpsDen: fps?.den ?? 0 };
  return { every: every ?? 0, fromMs: from, toMs: to, ...rate, hwaccel: hwaccel ?? '' };
}

/** Makes a parser of times for commander. The value is in milliseconds. The parser throws UsageError. */
export function readTime(option: string): (text: string) => number {
  return (text) => {
    const [, hours = '0', minutes = '0', seconds, fraction = ''] =
      /^(?:(?:(\d{1,4}):)?(\d{1,2}):(?=\d\d(?:\.|$)))?(\d{1,7})(?:\.(\d{1,3}))?$/.exec(text) ?? [];
    const isClock = text.includes(':');
    if (seconds === undefined || Number(minutes) > 59 || (isClock && Number(seconds) > 59)) {
      throw new UsageError(
        sentence`Expected seconds such as 90.5, or HH:MM:SS.mmm such as 00:01:30.500, for ${named(option)} but received '${text}'`,
      );
    }
    const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return whole * 1000 + Number(fraction.padEnd(3, '0'));
  };
}

/** Parses a rate, which is a whole number, a decimal or NUM/DEN, into a fraction. Throws UsageError. */
export function readRate(text: string): { num: number; den: number } {
  const [, whole, decimals = '', den] = /^(\d{1,6})(?:\.(\d{1,3})|\/(\d{1,6}))?$/.exec(text) ?? [];
  const rate = { num: Number((whole ?? '') + decimals), den: den === undefined ? 10 ** decimals.length : Number(den) };
  if (whole !== undefined && rate.num > 0 && rate.den > 0) return rate;
  throw new UsageError(
    sentence`Expected frames a second, such as 5, 0.5 or 30000/1001, for ${named('--fps')} but received '${text}'`,
  );
}

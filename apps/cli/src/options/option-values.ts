import { didYouMean } from '@halogrid/kernels/did-you-mean';
import type { MaxQuarantined } from '@halogrid/proto';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service/usage-error';

/** Makes a parser of whole numbers in a range for commander. It throws UsageError. */
export function wholeNumber(option: string, from: number, to: number): (text: string) => number {
  return (text) => {
    const value = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    throw new UsageError(
      sentence`Expected a whole number from ${from} to ${to} for ${named(option)} but received '${text}'`,
    );
  };
}

/** Makes a parser of percentages, with or without the sign and with decimals, for commander. It throws UsageError. */
export function percentage(option: string): (text: string) => number {
  return (text) => {
    const value = /^\d{1,3}(\.\d{1,6})?%?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
    if (value <= 100) return value;
    throw new UsageError(sentence`Expected 0 to 100 percent for ${named(option)} but received '${text}'`);
  };
}

/**
 * Makes a parser of a number of inputs or a percentage of them, `10` or `2.5%`, for commander. It throws UsageError.
 */
export function countOrPercentage(option: string): (text: string) => MaxQuarantined {
  return (text) => {
    if (/^\d{1,15}$/.test(text)) return { limit: { $case: 'inputs', value: Number(text) } };
    const percent = /^\d{1,3}(\.\d{1,6})?%$/.test(text) ? Number.parseFloat(text) : Number.NaN;
    if (percent <= 100) return { limit: { $case: 'percent', value: percent } };
    throw new UsageError(
      sentence`Expected a whole number from 0, or 0% to 100%, for ${named(option)} but received '${text}'`,
    );
  };
}

/** A parser of fixed words, with the list of them for shell completion. */
type WordParser<T> = ((text: string) => T) & { readonly choices: readonly string[] };

/** Makes a parser of a fixed set of words for commander. It throws UsageError. */
export function parseWord<T extends string>(option: string, allowed: readonly T[]): WordParser<T> {
  const read = (text: string): T => {
    const value = allowed.find((word) => word === text);
    if (value !== undefined) return value;
    throw new UsageError(
      sentence`Expected one of ${allowed.join(', ')} for ${named(option)} but received '${text}'${didYouMean(text, allowed)}`,
    );
  };
  return Object.assign(read, { choices: allowed });
}

/** Makes a parser of some of a fixed set of words, `a,b`, each once, for commander. It throws UsageError. */
export function someOf<T extends string>(option: string, allowed: readonly T[]): WordParser<T[]> {
  const read = (text: string): T[] => {
    const words = text.split(',');
    const values = allowed.filter((word) => words.includes(word));
    if (values.length === words.length) return values;
    throw new UsageError(
      sentence`Expected some of ${allowed.join(', ')}, as in a,b, for ${named(option)} but received '${text}'`,
    );
  };
  return Object.assign(read, { choices: allowed });
}

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Makes a parser of durations for commander: `90s`, `10m`, `1.5h`, `2d` or `0`, into milliseconds. The parser throws
 * UsageError.
 */
export function duration(option: string): (text: string) => number {
  return (text) => {
    const [, number, unit] = /^(\d{1,9}(?:\.\d{1,3})?)([smhd])$/.exec(text) ?? [];
    if (number) return Math.round(Number(number) * unitsMs[unit as keyof typeof unitsMs]);
    if (text === '0') return 0;
    throw new UsageError(
      sentence`Expected a duration such as 90s, 10m, 1h or 2d, or 0, for ${named(option)} but received '${text}'`,
    );
  };
}

const unitsOfBytes = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 } as const;

/** Makes a parser of sizes for commander: `512M`, `1.5GiB`, into bytes. The parser throws UsageError. */
export function size(option: string): (text: string) => number {
  return (text) => {
    const [, number, unit] = /^(\d{1,9}(?:\.\d{1,3})?)([KMGT])(?:i?B)?$/i.exec(text) ?? [];
    const bytes = number
      ? Math.round(Number(number) * unitsOfBytes[unit!.toUpperCase() as keyof typeof unitsOfBytes])
      : 0;
    if (bytes > 0 && Number.isSafeInteger(bytes)) return bytes;
    throw new UsageError(
      sentence`Expected a size above 0 such as 512M or 2G, in powers of 1024, for ${named(option)} but received '${text}'`,
    );
  };
}

/** Makes a parser of durations as `duration` does, in which a number alone is a number of seconds. */
export function seconds(option: string): (text: string) => number {
  const read = duration(option);
  return (text) => read(/^\d{1,9}$/.test(text) ? `${text}s` : text);
}

/**
 * Makes a parser of moments to come for commander: `2026-01-31T08:00Z`, `@1769846400` in seconds since 1970, or a
 * duration from now, `90m`. The value is in milliseconds since 1970. The parser throws UsageError.
 */
export function momentToCome(option: string, nowMs = Date.now): (text: string) => number {
  return (text) => {
    const [, sinceEpoch] = /^@(\d{1,11})$/.exec(text) ?? [];
    if (sinceEpoch) return Number(sinceEpoch) * 1000;
    try {
      return text.includes('T') ? moment(option)(text) : nowMs() + duration(option)(text);
    } catch {
      throw new UsageError(
        sentence`Expected a moment with its zone, such as 2026-01-31T08:00Z, seconds since 1970, such as @1769846400, or a duration from now, such as 90m, for ${named(option)} but received '${text}'`,
      );
    }
  };
}

/**
 * Makes a parser of moments with their zone, `2026-01-31T08:00Z` or `2026-01-31T08:00:00+01:00`, for commander. The
 * value is in milliseconds since 1970. The parser throws UsageError.
 */
export function moment(option: string): (text: string) => number {
  return (text) => {
    const isMoment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
    const value = isMoment ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(value)) return value;
    throw new UsageError(
      sentence`Expected a moment with its zone, such as 2026-01-31T08:00Z, for ${named(option)} but received '${text}'`,
    );
  };
}

/** Collects the values of an option that may be repeated. */
export function collect(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text];
}

/** Values of --device: the best device, or one kind. */
export const deviceChoices = ['auto', 'gpu', 'software', 'cpu'] as const;
export type DeviceChoice = (typeof deviceChoices)[number];

/** Values of --decode: the faster of both, the device, or only cores. */
export const decodeChoices = ['auto', 'gpu', 'cpu'] as const;
export type DecodeChoice = (typeof decodeChoices)[number];

/** Values of --device for a search: the best device for it, or one kind. */
export const searchDevices = [...deviceChoices, 'twin'] as const;
export type SearchDevice = (typeof searchDevices)[number];

/** Values of --log-level. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

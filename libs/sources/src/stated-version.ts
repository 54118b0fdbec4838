/** What a manifest states of a file. */
export interface StatedFacts {
  /** As a server sends it, quoted or not. */
  etag?: string;
  sizeBytes?: number;
  /** Time of change in seconds since 1970, as a decimal number. */
  mtime?: string;
}

/** Decimals of a time in seconds that the version of a local file can tell apart: it has milliseconds as float64. */
const mostDecimals = 6;

/** Digits behind the point that say a time to the nanosecond. */
const exactDecimals = 9;

/**
 * The version of a file by what is stated of it. If size and time of a local file are stated to the nanosecond, it is
 * the version of `localVersion`, as in a listing of the same file. If not, it is a text that `isOfVersion` understands.
 * Undefined if nothing is stated.
 */
export function statedVersion({ etag, sizeBytes, mtime }: StatedFacts, isLocal: boolean): string | undefined {
  const [, seconds, decimals = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(mtime ?? '') ?? [];
  if (isLocal && sizeBytes !== undefined && etag === undefined && decimals.length >= exactDecimals) {
    const nanoseconds = Number(decimals.slice(0, exactDecimals));
    // Times before 1970 count their nanoseconds from the second before.
    if (!seconds!.startsWith('-')) return `${sizeBytes} ${Number(seconds) * 1000 + nanoseconds / 1e6}`;
  }
  const parts = [
    etag === undefined ? [] : `etag=${bare(etag)}`,
    mtime === undefined ? [] : `mtime=${mtime}`,
    sizeBytes === undefined ? [] : `size=${sizeBytes}`,
  ].flat();
  return parts.length > 0 ? parts.join(' ') : undefined;
}

/** Whether a version is made of what a manifest states; the file's own version says more. */
export const isStatedVersion = (version: string): boolean => /^(etag|mtime|size)=/.test(version);

/** The version of an image and its mask together. */
export const maskedVersion = (version: string, ofMask: string): string => `${version} mask ${ofMask}`;

const withoutMask = (version: string): string => version.replace(/ mask .*$/s, '');

/** The version of a slide: of the file that is named, of the files beside it, and of the OpenSlide that decodes it. */
export const slideVersion = (version: string, ofFiles: string, openslide: string): string =>
  `${version} slide ${ofFiles} ${openslide}`;

/** The OpenSlide that decodes a slide of that version; undefined for a version that does not tell. */
export const openSlideOf = (version: string): string | undefined => / slide \S+ (\S+)$/.exec(version)?.[1];

/** The version of the file that is named, without the rest of a slide. */
export const ofNamedFile = (version: string): string => version.replace(/ slide \S+ \S+$/, '');

/** Whether a file that replaces this one would have another version. It might not if a manifest states only a size. */
export const tellsContent = (version: string): boolean => !/^size=\d+$/.test(withoutMask(version));

/**
 * Whether a file with the version `now` has the version that was listed or stated: everything that is stated must hold.
 * The length of a file on a server may be unknown before it is read.
 */
export function isOfVersion(now: string | undefined, version: string): boolean {
  if (now === version) return true;
  if (now === undefined) return false;
  // Only opening a slide tells about more than the file that is named.
  if (openSlideOf(now) !== undefined && openSlideOf(version) !== undefined) return false;
  return isOfFile(ofNamedFile(now), ofNamedFile(version));
}

function isOfFile(now: string, version: string): boolean {
  if (now === version) return true;
  if (!isStatedVersion(version)) return now.startsWith(`${version} `) && /^\d+$/.test(now.slice(version.length + 1));
  const [, etag, mtime, size] = /^(?:etag=(.*?))?(?: ?mtime=(\S+))?(?: ?size=(\d+))?$/.exec(version) ?? [];
  const is = factsOf(now);
  return (
    (etag === undefined || etag === is.etag) &&
    (size === undefined || Number(size) === is.sizeBytes) &&
    (mtime === undefined || (is.seconds !== undefined && isSameTime(mtime, is.seconds)))
  );
}

/**
 * When a file of that version was changed, in whole milliseconds since 1970; undefined for a version that does not say.
 */
export function changedMsOf(masked: string): number | undefined {
  const version = withoutMask(masked);
  const [, mtimeMs] = /^\d+ (\d{1,15}(?:\.\d+)?)$/.exec(version) ?? [];
  return mtimeMs === undefined ? statedMs(version) : Math.floor(Number(mtimeMs));
}

/** When a file was changed, in milliseconds since 1970, by what is stated of it; undefined if no time is stated. */
function statedMs(version: string): number | undefined {
  const [, seconds] = /^(?:etag=.*? )?mtime=(-?\d+(?:\.\d+)?)(?: |$)/.exec(version) ?? [];
  return seconds === undefined ? undefined : Math.floor(Number(seconds) * 1000);
}

/** The facts in the version of a file on this machine or on a server. */
function factsOf(version: string): { etag?: string; sizeBytes?: number; seconds?: number } {
  const [, bytes, ms] = /^(\d+) (-?\d+(?:\.\d+)?)$/.exec(version) ?? [];
  if (ms !== undefined) return { sizeBytes: Number(bytes), seconds: Number(ms) / 1000 };
  const [, etag, modified = '', size] = /^((?:W\/)?"[^"]*")? ?(.*?)(?:(?<=^| )(\d+))?$/.exec(version) ?? [];
  const changedMs = Date.parse(modified);
  return {
    etag: etag === undefined ? undefined : bare(etag),
    sizeBytes: size === undefined ? undefined : Number(size),
    seconds: Number.isNaN(changedMs) ? undefined : changedMs / 1000,
  };
}

/** Whether two times are the same to as many decimals as are stated, rounded or cut off. */
function isSameTime(stated: string, seconds: number): boolean {
  const decimals = Math.min(mostDecimals, stated.split('.')[1]?.length ?? 0);
  return Math.abs(Number(stated) - seconds) < 10 ** -decimals;
}

const bare = (etag: string): string => etag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1');

import { named, sentence } from '@halogrid/proto/sentence';
import { CaptureOptionsError } from './capture-options-error.ts';
import type { CaptureTime } from './capture-time.ts';
import { parseNamePattern } from './name-pattern.ts';
import { parseZone } from './time-zone.ts';

/** How a job knows when its inputs were captured. */
export interface CaptureOptions {
  /** Pattern of names, or `mtime`; empty: what files state. */
  from: string;
  /** Zone of times that state none: see parseZone. Empty: there is none. */
  zone: string;
}

/** Throws CaptureOptionsError for options that are none, or that do not go with a checksum. */
export function checkCaptureOptions(options: CaptureOptions, checksum: boolean): void {
  const { isMtime } = new CaptureRule(options);
  if (!isMtime || !checksum) return;
  const because = sentence`because ${named('checksum')} tells files by content and not by time`;
  throw new CaptureOptionsError(
    sentence`Expected a pattern for ${named('captured.from')} but received 'mtime', ${because}`,
  );
}

/** A frame or image of which a capture time is wanted. */
export interface CapturedInput {
  uri: string;
  /** Absent for images; the time is that since the first frame. */
  video?: { timestampMs: number | null };
  /** What its file states, or when it was changed last; that of a video is when its first frame was captured. */
  captured?: CaptureTime;
}

/** Where a capture time is from; 'zoneless' is a time that states no zone, 'unknown' none at all. */
export const captureOrigins = ['name', 'exif', 'container', 'mtime', 'zoneless', 'unknown'] as const;
export type CaptureOrigin = (typeof captureOrigins)[number];

export interface Capture {
  /** Milliseconds since 1970 in UTC; null where nobody knows. */
  atMs: number | null;
  camera: string | null;
}

/** By which capture times and cameras of a job are told. */
export class CaptureRule {
  /** Whether times are those at which files were changed last. */
  readonly isMtime: boolean;
  readonly #pattern: ReturnType<typeof parseNamePattern> | undefined;
  readonly #toUtc: ReturnType<typeof parseZone> | undefined;
  readonly #isTimed: boolean;

  /** Throws CaptureOptionsError for options that are none. */
  constructor({ from, zone }: CaptureOptions = { from: '', zone: '' }) {
    this.isMtime = from === 'mtime';
    this.#pattern = from === '' || this.isMtime ? undefined : parseNamePattern(from);
    // A pattern of nothing but a camera leaves the time to the files.
    this.#isTimed = this.#pattern !== undefined && /%[Yys]/.test(from.replaceAll('%%', ''));
    this.#toUtc = zone === '' ? undefined : parseZone(zone);
  }

  /** Whether a name fits the pattern; undefined where there is none. */
  fits(uri: string): boolean | undefined {
    return this.#pattern && this.#pattern(pathOf(uri)) !== undefined;
  }

  /** Whether it asks for URIs: without a pattern of names it does not. */
  get readsNames(): boolean {
    return this.#pattern !== undefined;
  }

  /** Where the capture time of an input is from. */
  origin(input: CapturedInput): CaptureOrigin {
    const time = this.#stated(input);
    if (!time || input.video?.timestampMs === null) return 'unknown';
    if (time.offsetMinutes === undefined && !this.#toUtc) return 'zoneless';
    if (this.#isTimed) return 'name';
    if (this.isMtime) return 'mtime';
    return input.video ? 'container' : 'exif';
  }

  of(input: CapturedInput): Capture {
    const camera = this.#pattern?.(pathOf(input.uri))?.camera ?? null;
    const time = this.#stated(input);
    if (!time || input.video?.timestampMs === null) return { atMs: null, camera };
    const { localMs, offsetMinutes } = time;
    const startMs = offsetMinutes === undefined ? this.#toUtc?.(localMs) : localMs - offsetMinutes * 60_000;
    return { atMs: startMs === undefined ? null : Math.round(startMs + (input.video?.timestampMs ?? 0)), camera };
  }

  #stated({ uri, captured }: CapturedInput): CaptureTime | undefined {
    return this.#isTimed ? this.#pattern?.(pathOf(uri))?.time : captured;
  }
}

/** The path that a URI names, with its characters as they are. */
function pathOf(uri: string): string {
  const { pathname } = new URL(uri);
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}

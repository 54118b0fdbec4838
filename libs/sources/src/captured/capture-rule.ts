import { named, sentence } from '@halogrid/proto/sentence';
import { holderOf, pathInHolder } from '../part-uri.ts';
import { CaptureOptionsError } from './capture-options-error.ts';
import type { CaptureTime } from './capture-time.ts';
import { parseNamePattern } from './name-pattern.ts';
import { parseZone } from './time-zone.ts';

/** How a job knows when its inputs were captured. */
export interface CaptureOptions {
  /** Pattern of names, or `mtime`; empty: what files state. */
  from: string;
  /** The zone of times that state none (see parseZone). Empty: such times have no zone. */
  zone: string;
}

/** Throws CaptureOptionsError for invalid options, and for options that cannot be used with a checksum. */
export function checkCaptureOptions(options: CaptureOptions, checksum: boolean): void {
  const { isMtime } = new CaptureRule(options);
  if (!isMtime || !checksum) return;
  const because = sentence`because ${named('checksum')} tells files by content and not by time`;
  throw new CaptureOptionsError(
    sentence`Expected a pattern for ${named('captured.from')} but received 'mtime', ${because}`,
  );
}

/** A frame or image whose capture time is wanted. */
export interface CapturedInput {
  uri: string;
  /** Absent for images; the time counts from the first frame. */
  video?: { timestampMs: number | null };
  /** The time that its file states, or its last change. For a video, it is the time of the first frame. */
  captured?: CaptureTime;
}

/** Where a capture time is from; 'zoneless': the time has no zone; 'unknown': there is no time. */
export const captureOrigins = ['name', 'exif', 'container', 'mtime', 'zoneless', 'unknown'] as const;
export type CaptureOrigin = (typeof captureOrigins)[number];

export interface Capture {
  /** Milliseconds since 1970 in UTC; null if not known. */
  atMs: number | null;
  camera: string | null;
}

/** Tells the capture times and cameras of a job's inputs. */
export class CaptureRule {
  /** Whether capture times are the times at which files were changed last. */
  readonly isMtime: boolean;
  readonly #pattern: ReturnType<typeof parseNamePattern> | undefined;
  readonly #toUtc: ReturnType<typeof parseZone> | undefined;
  readonly #isTimed: boolean;

  /** Throws CaptureOptionsError for invalid options. */
  constructor({ from, zone }: CaptureOptions = { from: '', zone: '' }) {
    this.isMtime = from === 'mtime';
    this.#pattern = from === '' || this.isMtime ? undefined : parseNamePattern(from);
    // A pattern of nothing but a camera leaves the time to the files.
    this.#isTimed = this.#pattern !== undefined && /%[Yys]/.test(from.replaceAll('%%', ''));
    this.#toUtc = zone === '' ? undefined : parseZone(zone);
  }

  /** Whether a name fits the pattern; undefined if there is no pattern. */
  fits(uri: string): boolean | undefined {
    return this.#pattern && this.#pattern(pathOf(uri)) !== undefined;
  }

  /** Whether it needs the URIs of inputs: only with a pattern of names. */
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

/** The path that a URI names, with its characters as they are; a member's or row's goes on behind that of its file. */
function pathOf(text: string): string {
  const inHolder = pathInHolder(text);
  if (inHolder !== undefined) return `${pathOf(holderOf(text))}/${inHolder}`;
  const { pathname } = new URL(holderOf(text));
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}

import type { SourceLine } from './source-line.ts';

/** The most entries that job.json contains itself. With more, it names the list of sources. */
export const mostListed = 10_000;

/** A video. Sums, size and name are of the frames that are done. */
interface VideoEntry {
  uri: string;
  /** The name of the first frame's preview and map; undefined if no frame is done. */
  name: string | undefined;
  frames: number;
  /** Size of the first frame in pixels. */
  width: number;
  height: number;
  pixels: number;
  counted: number;
  quarantinedFrames: number;
  /** Numbers of the first and the last frame, also if they are quarantined. */
  from: number;
  to: number;
}

/** The entries of job.json for consecutive sources. A thread can pass it to another. */
export interface ListedRange {
  /** The first entries. The entry of an image is JSON. */
  entries: (string | VideoEntry)[];
  /** The number of all entries. */
  count: number;
  /** The last entry, if it is a video. Its next frame may follow. */
  video: VideoEntry | undefined;
}

/**
 * Makes the entries of job.json: one per image, and one for all consecutive frames of a video. Holds the first 10,000
 * entries.
 */
export class ListedSources {
  #entries: ListedRange['entries'] = [];
  #count = 0;
  #video: VideoEntry | undefined;
  /** How many entries, at least, come before the first one here. Another instance has them. */
  #before = 0;

  /** The number of entries so far. */
  get count(): number {
    return this.#count;
  }

  /** Adds the next source. `error` says why it is quarantined. */
  add(source: SourceLine, error?: string): void {
    if (source.frame !== undefined) this.#addVideo(videoOf(source, source.frame));
    else {
      this.#push(this.#isWanted && JSON.stringify(entryOf(source, error)));
      this.#video = undefined;
    }
  }

  /** Adds the entries of the next sources, which another instance made. */
  append({ entries, count, video }: ListedRange): void {
    const [first] = entries;
    const isMore = typeof first === 'object' && this.#goOn(first);
    const others = isMore ? entries.slice(1) : entries;
    const fewer = isMore ? 1 : 0;
    this.#entries.push(...others.slice(0, Math.max(0, mostListed - this.#count)));
    this.#count += count - fewer;
    if (count > fewer) this.#video = video;
  }

  /** Says that at least `before` entries come before the next source. */
  begin(before: number): void {
    this.#before = before;
  }

  /** Returns the entries since the last call. */
  take(): ListedRange {
    const taken = { entries: this.#entries, count: this.#count, video: this.#video };
    this.#entries = [];
    this.#count = 0;
    this.#video = undefined;
    return taken;
  }

  /** The entries as JSON, and how many there are. `listed` is undefined if there are too many for job.json. */
  end(): { listed: string[] | undefined; entries: number } {
    const isListed = this.#count <= mostListed;
    return { listed: isListed ? this.#entries.map(textOf) : undefined, entries: this.#count };
  }

  /** Whether job.json may contain the next entry. The first entry is always kept: it may continue the video before. */
  get #isWanted(): boolean {
    return this.#count === 0 || this.#before + this.#count <= mostListed;
  }

  #addVideo(video: VideoEntry): void {
    if (this.#goOn(video)) return;
    this.#push(this.#isWanted && video);
    this.#video = video;
  }

  /** Adds frames to the last video, if they are its next frames. Returns whether they are. */
  #goOn(next: VideoEntry): boolean {
    const video = this.#video;
    if (video?.uri !== next.uri || next.from <= video.to) return false;
    if (video.frames === 0) Object.assign(video, { name: next.name, width: next.width, height: next.height });
    for (const sum of ['frames', 'pixels', 'counted', 'quarantinedFrames'] as const) video[sum] += next[sum];
    video.to = next.to;
    return true;
  }

  #push(entry: string | VideoEntry | false): void {
    if (entry) this.#entries.push(entry);
    this.#count++;
  }
}

/** The entry of an image: `pixels` of the image, `counted` pixels that have a code, `name` of its preview and map. */
function entryOf(source: SourceLine, error: string | undefined): object {
  const { uri } = source;
  if (source.quarantined) return { uri, quarantined: true, error };
  const { name, width, height, counted } = source;
  return { uri, name, width, height, pixels: width * height, counted };
}

function videoOf(source: SourceLine, frame: number): VideoEntry {
  const { uri } = source;
  const of = { from: frame, to: frame };
  if (source.quarantined) {
    const none = { name: undefined, frames: 0, width: 0, height: 0, pixels: 0, counted: 0 };
    return { uri, ...none, quarantinedFrames: 1, ...of };
  }
  const { name, width, height, counted } = source;
  return { uri, name, frames: 1, width, height, pixels: width * height, counted, quarantinedFrames: 0, ...of };
}

function textOf(entry: string | VideoEntry): string {
  if (typeof entry === 'string') return entry;
  const { from, to, quarantinedFrames, ...sums } = entry;
  return JSON.stringify({ ...sums, quarantinedFrames: quarantinedFrames || undefined });
}

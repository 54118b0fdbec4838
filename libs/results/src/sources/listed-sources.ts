import type { SourceLine } from './source-line.ts';

/** Entries that job.json has itself; of more it names the list of sources. */
export const mostListed = 10_000;

/** Sums over the frames that are done; size and `name`, which is that of its preview and map, are those of the first. */
interface VideoEntry {
  uri: string;
  name: string | undefined;
  frames: number;
  width: number;
  height: number;
  pixels: number;
  counted: number;
  quarantinedFrames: number;
  /** Numbers of its first and last frame. */
  from: number;
  to: number;
}

/** What job.json lists of sources that follow one another; a thread can hand it to another. */
export interface ListedRange {
  /** The first ones: those of images as JSON. */
  entries: (string | VideoEntry)[];
  /** All of them. */
  count: number;
  /** The last entry, if it is a video, whose next frame may follow. */
  video: VideoEntry | undefined;
}

/**
 * The sources as job.json lists them: an entry an image, and one for all frames of a video that follow one another. Holds the
 * first 10,000.
 */
export class ListedSources {
  #entries: ListedRange['entries'] = [];
  #count = 0;
  #video: VideoEntry | undefined;
  /** Entries that are known to come before, and are with another. */
  #before = 0;

  /** Entries so far. */
  get count(): number {
    return this.#count;
  }

  /** The next source; `error` says why it is quarantined. */
  add(source: SourceLine, error?: string): void {
    if (source.frame !== undefined) this.#addVideo(videoOf(source, source.frame));
    else {
      this.#push(this.#isWanted && JSON.stringify(entryOf(source, error)));
      this.#video = undefined;
    }
  }

  /** The next sources, which were added to another. */
  append({ entries, count, video }: ListedRange): void {
    const [first] = entries;
    const isMore = typeof first === 'object' && this.#goOn(first);
    const others = isMore ? entries.slice(1) : entries;
    const fewer = isMore ? 1 : 0;
    this.#entries.push(...others.slice(0, Math.max(0, mostListed - this.#count)));
    this.#count += count - fewer;
    if (count > fewer) this.#video = video;
  }

  /** Before what is added next are so many entries at least. */
  begin(before: number): void {
    this.#before = before;
  }

  /** What was added since the last call. */
  take(): ListedRange {
    const taken = { entries: this.#entries, count: this.#count, video: this.#video };
    this.#entries = [];
    this.#count = 0;
    this.#video = undefined;
    return taken;
  }

  /** `listed` are the entries as JSON; undefined where they are more than job.json has. */
  end(): { listed: string[] | undefined; entries: number } {
    const isListed = this.#count <= mostListed;
    return { listed: isListed ? this.#entries.map(textOf) : undefined, entries: this.#count };
  }

  /** Whether the next entry may be one of those that job.json has. The first may go on with the video before it. */
  get #isWanted(): boolean {
    return this.#count === 0 || this.#before + this.#count <= mostListed;
  }

  #addVideo(video: VideoEntry): void {
    if (this.#goOn(video)) return;
    this.#push(this.#isWanted && video);
    this.#video = video;
  }

  /** Adds frames to the video before them, if they are its next. */
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

/** `pixels` are those of the image, `counted` those that have a code; `name` is that of its preview and map. */
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
  return JSON.stringify({ ...sums, ...(quarantinedFrames > 0 && { quarantinedFrames }) });
}

import { isSameFile } from './same-file.ts';
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
  quarantinedFrames?: number;
}

/**
 * The sources as job.json lists them: an entry an image, and one for all frames of a video that follow one another. Holds the
 * first 10,000.
 */
export class ListedSources {
  #entries: string[] = [];
  #count = 0;
  #video: VideoEntry | undefined;
  /** The last frame of it. */
  #last: SourceLine | undefined;

  /** The next source; `error` says why it is quarantined. */
  add(source: SourceLine, error?: string): void {
    const isNextFrame = this.#last !== undefined && source.frame !== undefined && isSameFile(this.#last, source);
    if (!isNextFrame) this.#endVideo();
    if (source.frame !== undefined) this.#addFrame(source);
    else if (++this.#count <= mostListed) this.#entries.push(JSON.stringify(this.#entryOf(source, error)));
  }

  /** `listed` are the entries as JSON; undefined where they are more than job.json has. */
  end(): { listed: string[] | undefined; entries: number } {
    this.#endVideo();
    return { listed: this.#count <= mostListed ? this.#entries : undefined, entries: this.#count };
  }

  /** `pixels` are those of the image, `counted` those that have a code; `name` is that of its preview and map. */
  #entryOf(source: SourceLine, error: string | undefined): object {
    const { uri } = source;
    if (source.quarantined) return { uri, quarantined: true, error };
    const { name, width, height, counted } = source;
    return { uri, name, width, height, pixels: width * height, counted };
  }

  #addFrame(frame: SourceLine): void {
    this.#last = frame;
    if (!this.#video) {
      this.#video = {
        uri: frame.uri,
        name: undefined,
        frames: 0,
        width: 0,
        height: 0,
        pixels: 0,
        counted: 0,
      };
    }
    const video = this.#video;
    if (frame.quarantined) {
      video.quarantinedFrames = (video.quarantinedFrames ?? 0) + 1;
      return;
    }
    const { name, width, height } = frame;
    if (video.frames++ === 0) Object.assign(video, { name, width, height });
    video.pixels += width * height;
    video.counted += frame.counted;
  }

  #endVideo(): void {
    if (this.#video && ++this.#count <= mostListed) this.#entries.push(JSON.stringify(this.#video));
    this.#video = undefined;
    this.#last = undefined;
  }
}

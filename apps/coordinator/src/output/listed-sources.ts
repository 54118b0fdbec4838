import { redactUri } from '@halogrid/sources/redact-uri';
import type { SettledRow } from '../ledger/ledger.ts';

/** Entries that job.json has itself; of more it names the list of sources. */
export const mostListed = 10_000;

/** Sums over the frames that are done; the size is that of the first, and `name` is that of its preview and map. */
interface VideoEntry {
  uri: string;
  name: string;
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
  /** As it is asked for; the entry has what may be shown of it. */
  #videoUri = '';

  /** The next source. */
  add(source: SettledRow): void {
    const isSameVideo = source.video !== undefined && source.uri === this.#videoUri;
    if (this.#video && !isSameVideo) this.#endVideo();
    if (source.video) this.#addFrame(source);
    else if (++this.#count <= mostListed) this.#entries.push(JSON.stringify(this.#entryOf(source)));
  }

  /** `listed` are the entries as JSON; undefined where they are more than job.json has. */
  end(): { listed: string[] | undefined; entries: number } {
    this.#endVideo();
    return { listed: this.#count <= mostListed ? this.#entries : undefined, entries: this.#count };
  }

  /** `pixels` are those of the image, `counted` those that have a code; `name` is that of its preview and map. */
  #entryOf(source: SettledRow): object {
    const uri = redactUri(source.uri);
    if (source.state === 'quarantined') return { uri, quarantined: true, error: source.error };
    const { name, width, height, counted } = source;
    return { uri, name, width, height, pixels: width * height, counted };
  }

  #addFrame(frame: SettledRow): void {
    if (!this.#video) {
      this.#video = {
        uri: redactUri(frame.uri),
        name: frame.name,
        frames: 0,
        width: 0,
        height: 0,
        pixels: 0,
        counted: 0,
      };
      this.#videoUri = frame.uri;
    }
    const video = this.#video;
    if (frame.state === 'quarantined') {
      video.quarantinedFrames = (video.quarantinedFrames ?? 0) + 1;
      return;
    }
    const { width, height } = frame;
    if (video.frames++ === 0) Object.assign(video, { width, height });
    video.pixels += width * height;
    video.counted += frame.counted;
  }

  #endVideo(): void {
    if (this.#video && ++this.#count <= mostListed) this.#entries.push(JSON.stringify(this.#video));
    this.#video = undefined;
    this.#videoUri = '';
  }
}

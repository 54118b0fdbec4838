import type { IndexLine } from './process/index-line.ts';
import { openVideoFile, type VideoFile } from './video-file.ts';

/** The most lines that are kept of a video before it is asked for: 4,096 packets. */
const mostLines = 16;
/** The most videos that are being indexed, or have lines that are kept. */
const mostBegun = 32;

interface Kept {
  version: string;
  lines: IndexLine[];
}

/**
 * Indexes short local recordings before they are asked for, several at once, so that a folder of thousands is planned
 * as fast as many cores decode it. After the first recording that turns out to be long, no other is begun: the rest are
 * indexed when they are asked for.
 */
export class IndexAhead {
  readonly #index: (file: VideoFile) => AsyncIterable<IndexLine>;
  readonly #atOnce: number;
  readonly #open: typeof openVideoFile;
  /** URIs of videos that have not been begun. */
  readonly #waiting = new Set<string>();
  /** By URI; gives undefined for a video that is to be indexed when it is asked for. */
  readonly #begun = new Map<string, Promise<Kept | undefined>>();
  #running = 0;
  #isOver = false;

  /** `index` indexes a video; ending its iterator ends the indexing. */
  constructor(
    index: (file: VideoFile) => AsyncIterable<IndexLine>,
    atOnce: number,
    open: typeof openVideoFile = openVideoFile,
  ) {
    this.#index = index;
    this.#atOnce = atOnce;
    this.#open = open;
  }

  /** Announces that the video will be asked for, after those that were added before. */
  add(uri: string): void {
    if (this.#isOver || !uri.startsWith('file:')) return;
    this.#waiting.add(uri);
    this.#goOn();
  }

  /** All lines of a video in that version; undefined if it is to be indexed now. */
  async take(uri: string, version: string): Promise<IndexLine[] | undefined> {
    this.#waiting.delete(uri);
    const kept = await this.#begun.get(uri);
    this.#begun.delete(uri);
    this.#goOn();
    return kept?.version === version ? kept.lines : undefined;
  }

  /** Begins no other video. */
  close(): void {
    this.#isOver = true;
    this.#waiting.clear();
  }

  #goOn(): void {
    for (const uri of this.#waiting) {
      if (this.#running >= this.#atOnce || this.#begun.size >= mostBegun) return;
      this.#waiting.delete(uri);
      this.#running++;
      this.#begun.set(
        uri,
        // An error is dropped here: indexing the video when it is asked for meets it again.
        this.#listed(uri)
          .catch(() => undefined)
          .finally(() => {
            this.#running--;
            this.#goOn();
          }),
      );
    }
  }

  async #listed(uri: string): Promise<Kept | undefined> {
    const file = await this.#open(uri);
    try {
      const lines: IndexLine[] = [];
      for await (const line of this.#index(file)) {
        if (lines.push(line) <= mostLines) continue;
        this.close();
        return undefined;
      }
      return { version: file.version, lines };
    } finally {
      file.close();
    }
  }
}

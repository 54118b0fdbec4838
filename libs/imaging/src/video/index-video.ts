import { indexAgain } from './index-again.ts';
import type { IndexLine } from './process/index-packets.ts';
import type { VideoFile } from './video-file.ts';
import { VideoReader } from './video-reader.ts';

/** What indexing a video gives, line by line; tried again where the process breaks down. Throws InputError. */
export type IndexVideo = (file: VideoFile) => AsyncGenerator<IndexLine, void, undefined>;

/**
 * Indexes videos one after another in a process that stays: to start one takes 0.3 s of a core (measured), as long as indexing an hour of
 * a small recording. One that has met damage is given no other video. To be closed.
 */
export class VideoIndexer {
  #reader: VideoReader | undefined;

  readonly index: IndexVideo = (file) => indexAgain(() => this.#once(file));

  async *#once(file: VideoFile): AsyncGenerator<IndexLine, void, undefined> {
    const kept = this.#reader;
    this.#reader = undefined;
    const reader = kept?.isFree ? kept : new VideoReader();
    if (reader !== kept) void kept?.end();
    try {
      const conversation = reader.order(file, { kind: 'index' });
      for (;;) {
        const said = await conversation.next();
        if (said.kind === 'listed') yield said.last;
        else if (said.kind === 'video' || said.kind === 'packets' || said.kind === 'unreached') yield said;
        else if (said.kind === 'end') break;
      }
    } finally {
      if (reader.isFree && !reader.hasComplained && !this.#reader) this.#reader = reader;
      else await reader.end();
    }
  }

  async close(): Promise<void> {
    await this.#reader?.end();
    this.#reader = undefined;
  }
}

/** In a process of its own. */
export const indexVideo: IndexVideo = async function* (file) {
  const indexer = new VideoIndexer();
  try {
    yield* indexer.index(file);
  } finally {
    await indexer.close();
  }
};

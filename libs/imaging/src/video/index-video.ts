import { coresHere } from '@halogrid/threads/limits';
import { indexAgain } from './index-again.ts';
import { IndexAhead } from './index-ahead.ts';
import type { IndexLine } from './process/index-line.ts';
import type { VideoFile } from './video-file.ts';
import { VideoReader } from './video-reader.ts';

/** Indexes a video, line by line, and tries again if the process breaks down. Throws InputError. */
export type IndexVideo = (file: VideoFile) => AsyncGenerator<IndexLine, void, undefined>;

/**
 * The most processes that index at once. FFmpeg decodes some frames to tell what a stream is, 30 ms of a core for 1080p
 * (measured), so one process indexes 30 files a second. 16 cores decode as many files a second if each has 50 frames.
 */
const mostAtOnce = 4;
const processesFor = (cores: number): number => Math.max(1, Math.min(mostAtOnce, Math.floor(cores / 4)));

/**
 * Indexes videos in processes that are kept: starting one takes 0.3 s of a core (measured), as long as indexing an hour
 * of a small recording. A process that has met damage gets no other video. The indexer must be closed.
 */
export class VideoIndexer {
  readonly #idle: VideoReader[] = [];
  readonly #atWork = new Set<VideoReader>();
  readonly #ahead: IndexAhead;
  #isClosed = false;

  /** `processes`: how many index at once. One indexes the video that is asked for, the others those that will be. */
  constructor(processes = processesFor(coresHere())) {
    this.#ahead = new IndexAhead((file) => this.#once(file), processes - 1);
  }

  /** Announces that the video will be indexed, after those that were announced before. */
  expect(uri: string): void {
    this.#ahead.add(uri);
  }

  /** The index of a video, which is ready sooner if its URI was announced by `expect`. */
  async *index(file: VideoFile, uri = ''): AsyncGenerator<IndexLine, void, undefined> {
    const lines = await this.#ahead.take(uri, file.version);
    if (lines) yield* lines;
    else yield* indexAgain(() => this.#once(file));
  }

  async *#once(file: VideoFile): AsyncGenerator<IndexLine, void, undefined> {
    if (this.#isClosed) throw new Error('The indexer is closed');
    const reader = this.#idle.pop() ?? new VideoReader();
    this.#atWork.add(reader);
    try {
      const conversation = reader.order(file, { kind: 'index' });
      for (;;) {
        const said = await conversation.next();
        if (said.kind === 'listed') yield said.last;
        else if (said.kind === 'video' || said.kind === 'packets' || said.kind === 'unreached') yield said;
        else if (said.kind === 'end') break;
      }
    } finally {
      this.#atWork.delete(reader);
      if (reader.isFree && !reader.isSpent && !this.#isClosed) this.#idle.push(reader);
      else await reader.end();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#ahead.close();
    await Promise.all([...this.#idle.splice(0), ...this.#atWork].map((reader) => reader.end()));
  }
}

/** Indexes one video in a process of its own. */
export const indexVideo: IndexVideo = async function* (file) {
  const indexer = new VideoIndexer();
  try {
    yield* indexer.index(file);
  } finally {
    await indexer.close();
  }
};

import type { SegmentRequest } from './process/decode-segment.ts';
import { roomBytes } from './process/video-protocol.ts';
import { SegmentDecoder } from './segment-decoder.ts';
import { SharedMemory } from './shared-memory.ts';
import type { VideoFile } from './video-file.ts';
import { VideoReader, type VideoReaderOptions } from './video-reader.ts';

export interface DecoderPoolOptions extends VideoReaderOptions {
  /** That decode at the same time, at most. */
  processes: number;
  /** One that nothing is asked of for so long is ended. */
  idleMs?: number;
}

/**
 * Processes that decode, each one segment after another. They are started when there is work for them. One that has met damage is
 * given nothing more, because FFmpeg may have come to harm that shows later; that costs the next segment a start. To be closed.
 */
export class DecoderPool {
  readonly #options: DecoderPoolOptions;
  readonly #readers = new Set<VideoReader>();
  /** The last that was used is the first to be used again. */
  readonly #idle: VideoReader[] = [];
  readonly #waiting: ((reader: VideoReader | undefined) => void)[] = [];
  #idleTimer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #hasNoted = false;

  constructor(options: DecoderPoolOptions) {
    this.#options = options;
  }

  get processes(): number {
    return this.#options.processes;
  }

  /** Waits for a process and has it decode a segment; `signal` ends the wait. The file must stay open until the decoder is closed. */
  async decode(file: VideoFile, request: SegmentRequest, signal?: AbortSignal): Promise<SegmentDecoder> {
    const reader = this.#take(file) ?? (await this.#wait(signal));
    if (!reader || this.#isClosed) throw new Error('The decoders are closed');
    return new SegmentDecoder(file, request, reader, (done) => this.#giveBack(done));
  }

  /** Ends all processes, whatever they do. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    for (const wake of this.#waiting.splice(0)) wake(undefined);
    await Promise.all([...this.#readers].map((reader) => reader.end()));
  }

  /** One that is free, best one that has read the file before, or a new one; undefined where there are as many as there may be. */
  #take({ access, version }: VideoFile): VideoReader | undefined {
    const isOf = ({ file }: VideoReader) =>
      file?.version === version && JSON.stringify(file.access) === JSON.stringify(access);
    const known = this.#idle.findLastIndex(isOf);
    const reader = known < 0 ? this.#idle.pop() : this.#idle.splice(known, 1)[0];
    if (reader?.isFree) return reader;
    if (reader) return this.#take({ access, version } as VideoFile);
    return this.#readers.size < this.#options.processes ? this.#start() : undefined;
  }

  #start(): VideoReader {
    const { note, ...options } = this.#options;
    const once = (line: string) => {
      if (!this.#hasNoted) note?.(line);
      this.#hasNoted = true;
    };
    const reader = new VideoReader({ memory: () => new SharedMemory(roomBytes), ...options, note: once });
    this.#readers.add(reader);
    void reader.ended.then(() => {
      this.#readers.delete(reader);
      this.#serve();
    });
    return reader;
  }

  #wait(signal: AbortSignal | undefined): Promise<VideoReader | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<VideoReader | undefined>();
    const abort = () => {
      this.#waiting.splice(this.#waiting.indexOf(wake), 1);
      reject(signal!.reason);
    };
    const wake = (reader: VideoReader | undefined) => {
      signal?.removeEventListener('abort', abort);
      resolve(reader);
    };
    this.#waiting.push(wake);
    signal?.addEventListener('abort', abort, { once: true });
    return promise;
  }

  #giveBack(reader: VideoReader): void {
    if (this.#isClosed) return;
    if (!reader.isFree || reader.hasComplained) {
      void reader.end();
      return;
    }
    this.#idle.push(reader);
    this.#serve();
    this.#endIdle();
  }

  /** Gives processes to whoever waits. */
  #serve(): void {
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const reader = this.#idle.pop() ?? (this.#readers.size < this.#options.processes ? this.#start() : undefined);
      if (!reader) return;
      if (reader.isFree) this.#waiting.shift()!(reader);
    }
  }

  /** Begins to wait anew whenever one has become idle. */
  #endIdle(): void {
    clearTimeout(this.#idleTimer);
    const endAll = () => {
      for (const reader of this.#idle.splice(0)) void reader.end();
    };
    this.#idleTimer = setTimeout(endAll, this.#options.idleMs ?? 10_000);
    this.#idleTimer.unref();
  }
}

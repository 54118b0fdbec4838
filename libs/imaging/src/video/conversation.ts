import { InputError } from '@halogrid/sources';
import { mostFramesOut, type RecordHead, type VideoMessage } from './process/video-protocol.ts';

/** A frame that a process has given out; `luma` holds its bytes if they are not in shared memory. */
export interface GivenFrame extends RecordHead {
  kind: 'frame';
  luma?: Uint8Array;
}

export type Said = GivenFrame | Exclude<VideoMessage, { kind: 'refused' }>;

/** The most messages that wait for `next`. At this number, nothing more is taken from the process. */
const mostWaiting = mostFramesOut;

/** The messages of a process about one order, first to last, for the caller that gave the order. */
export class OrderReplies {
  readonly #waiting: Said[] = [];
  #frames = 0;
  /** Why nothing follows the waiting messages; undefined if the order was carried out. */
  #failure: unknown;
  #isOver = false;
  #isFull = false;
  #heard = Promise.withResolvers<void>();
  #taken = Promise.withResolvers<void>();
  #listeners = 0;
  #over = Promise.withResolvers<void>();
  /** Called when the process has no room for another frame. */
  whenFull: (() => void) | undefined;
  /** The process has found something wrong with the video. */
  hasComplained = false;

  /** Resolves when no more messages will come. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Whether the process has said that it has no room for another frame, and none was taken since. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether a caller waits for the process. */
  get isAwaited(): boolean {
    return this.#listeners > 0;
  }

  /** The number of frames among the waiting messages. */
  get frames(): number {
    return this.#frames;
  }

  /** Waits for the next message. Rejects with the reason if the process refused the order or ended. */
  async next(): Promise<Said> {
    while (this.#waiting.length === 0) {
      if (this.#isOver) throw this.#failure ?? new Error('The decoder has ended');
      await this.#listen();
    }
    const said = this.#waiting.shift()!;
    if (said.kind === 'frame') this.#frames--;
    this.#taken.resolve();
    return said;
  }

  /** Waits until that many frames have come, or as many as can come before some are taken. */
  async ready(frames: number): Promise<void> {
    while (this.#frames < frames && !this.#isOver && !this.#isFull && this.#waiting.length < mostWaiting)
      await this.#listen();
  }

  /** Takes all waiting messages. */
  *rest(): Generator<Said> {
    yield* this.#waiting.splice(0);
    this.#frames = 0;
  }

  /** Call it when frames have been taken, which makes room for more. */
  taken(): void {
    this.#isFull = false;
  }

  // The members below are for the code that reads from the process.

  /** Waits while too many messages wait for `next`. */
  async room(): Promise<void> {
    while (this.#waiting.length >= mostWaiting && !this.#isOver) {
      this.#taken = Promise.withResolvers();
      await this.#taken.promise;
    }
  }

  say(said: Said): void {
    if (said.kind === 'bad') this.hasComplained = true;
    if (said.kind === 'frame') this.#frames++;
    this.#waiting.push(said);
    if (said.kind === 'end') this.#end(undefined);
    else this.#wake();
  }

  full(): void {
    this.#isFull = true;
    this.whenFull?.();
    this.#wake();
  }

  refuse(stage: 'read' | 'decode', error: string): void {
    this.hasComplained = true;
    this.#end(new InputError(stage, error));
  }

  fail(failure: unknown): void {
    if (!this.#isOver) this.#end(failure);
  }

  #end(failure: unknown): void {
    this.#failure = failure;
    this.#isOver = true;
    this.#over.resolve();
    this.#taken.resolve();
    this.#wake();
  }

  #wake(): void {
    this.#heard.resolve();
  }

  async #listen(): Promise<void> {
    this.#heard = Promise.withResolvers();
    this.#listeners++;
    try {
      await this.#heard.promise;
    } finally {
      this.#listeners--;
    }
  }
}

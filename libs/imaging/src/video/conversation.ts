import { InputError } from '@halogrid/sources';
import { mostFramesOut, type RecordHead, type VideoMessage } from './process/video-protocol.ts';

/** A frame that a process has given out; `luma` where it did not put it into memory. */
export interface GivenFrame extends RecordHead {
  kind: 'frame';
  luma?: Uint8Array;
}

export type Said = GivenFrame | Exclude<VideoMessage, { kind: 'refused' }>;

/** Things that are waiting to be heard, at most, before no more is taken from a process. */
const mostWaiting = mostFramesOut;

/** What a process says to one order, in its order, for whoever gave it. */
export class OrderReplies {
  readonly #waiting: Said[] = [];
  #frames = 0;
  /** Why nothing comes behind what is waiting; undefined where the order has been obeyed. */
  #failure: unknown;
  #isOver = false;
  #isFull = false;
  #heard = Promise.withResolvers<void>();
  #taken = Promise.withResolvers<void>();
  #listeners = 0;
  #over = Promise.withResolvers<void>();
  /** To be called when the process has no room for another frame. */
  whenFull: (() => void) | undefined;
  /** The process has said something that is not right about the video. */
  hasComplained = false;

  /** Resolves when there will be nothing more. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Whether the process has had no room for another frame since one was taken. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether somebody waits for the process. */
  get isAwaited(): boolean {
    return this.#listeners > 0;
  }

  /** Frames that can be had without waiting. */
  get frames(): number {
    return this.#frames;
  }

  /** Waits for the next thing. Rejects with what the process refused the order with, or what ended it. */
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

  /** Waits until so many frames can be had, or as many as there will be before some are taken. */
  async ready(frames: number): Promise<void> {
    while (this.#frames < frames && !this.#isOver && !this.#isFull && this.#waiting.length < mostWaiting)
      await this.#listen();
  }

  /** Everything that was said and not heard. */
  *rest(): Generator<Said> {
    yield* this.#waiting.splice(0);
    this.#frames = 0;
  }

  /** Frames have been taken, so that there may be more. */
  taken(): void {
    this.#isFull = false;
  }

  // What follows is for the process's side.

  /** Waits while too much is waiting. */
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

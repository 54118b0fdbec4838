import { readSync } from 'node:fs';
import type { VideoOrder } from './video-protocol.ts';

type Task = Exclude<VideoOrder, { kind: 'freed' }>;

/** Reads orders from stdin, which is only read while nothing else is done. */
export class OrderReader {
  readonly #freed: (places: number[]) => void;
  readonly #tasks: Task[] = [];
  readonly #part = Buffer.alloc(2 ** 16);
  #text = Buffer.alloc(0);

  /** `freed` is called with the places of frames that have been taken. */
  constructor(freed: (places: number[]) => void) {
    this.#freed = freed;
  }

  /** Waits for the next order; undefined if there will be none. */
  next(): Task | undefined {
    while (this.#tasks.length === 0) if (!this.wait()) return undefined;
    return this.#tasks.shift();
  }

  /** Waits for more input; false if there will be none. */
  wait(): boolean {
    const read = readSync(0, this.#part, 0, this.#part.length, null);
    if (read === 0) return false;
    const lines = Buffer.concat([this.#text, this.#part.subarray(0, read)]);
    const end = lines.lastIndexOf('\n') + 1;
    this.#text = lines.subarray(end);
    for (const line of lines.toString('utf8', 0, end).split('\n')) if (line) this.#take(JSON.parse(line));
    return true;
  }

  #take(order: VideoOrder): void {
    if (order.kind === 'freed') this.#freed(order.places);
    else this.#tasks.push(order);
  }
}

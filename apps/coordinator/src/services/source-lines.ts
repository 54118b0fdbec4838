import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { SourceLine } from '../output/previous/source-line.ts';

/** Bytes of the longest line that is read: a URI, and numbers. */
const maxLineBytes = 2 ** 20;
const newline = 0x0a;
const quarantined = Buffer.from('"quarantined":true');

/**
 * The lines of a sources.jsonl by number, whatever their number: where each begins is found out once (0.2 s for a million), and kept in
 * 8 bytes a line.
 */
export class SourceLines {
  readonly path: string;
  readonly #offsets: Float64Array;
  /** How many of those before each are quarantined; the file of histograms has no rows of them. */
  readonly #quarantinedBefore: Uint32Array;

  private constructor(path: string, offsets: readonly number[], quarantinedBefore: readonly number[]) {
    this.path = path;
    this.#offsets = Float64Array.from(offsets);
    this.#quarantinedBefore = Uint32Array.from(quarantinedBefore);
  }

  /** Rejects where there is no such file. */
  static async open(path: string): Promise<SourceLines> {
    const offsets: number[] = [];
    const before: number[] = [];
    let count = 0;
    let at = 0;
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) {
      const block: Buffer = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      let from = 0;
      for (let end = block.indexOf(newline); end >= 0; end = block.indexOf(newline, from)) {
        offsets.push(at + from);
        before.push(count);
        if (block.subarray(from, end).includes(quarantined)) count++;
        from = end + 1;
      }
      at += from;
      rest = block.subarray(from);
    }
    offsets.push(at);
    // The first line says what the file is.
    return new SourceLines(path, offsets.slice(1), before.slice(1));
  }

  /** Sources. */
  get length(): number {
    return Math.max(0, this.#offsets.length - 1);
  }

  /**
   * Those from `from` on, at most `count`, from each to the next `step`, each with its number among those that are not quarantined.
   */
  async read(from: number, count: number, step = 1): Promise<{ index: number; done: number; line: SourceLine }[]> {
    const file = await open(this.path);
    try {
      const found = [];
      for (let index = from; index < Math.min(this.length, from + count * step); index += step) {
        const line = await this.#line(file, index);
        found.push({ index, done: index - this.#quarantinedBefore[index]!, line });
      }
      return found;
    } finally {
      await file.close();
    }
  }

  /** The number of the source with that URI, and of a video that frame; undefined where there is none. Reads the file up to it. */
  async find(uri: string, frame?: number): Promise<number | undefined> {
    // As lines begin: what another has in its name is no such text, because there its quotes are escaped.
    const wanted = Buffer.from(`{"uri":${JSON.stringify(uri)}`);
    const file = await open(this.path);
    try {
      let [index, at] = [0, this.#offsets[0] ?? 0];
      const block = Buffer.alloc(2 ** 20 + wanted.length);
      for (;;) {
        const { bytesRead } = await file.read(block, 0, block.length, at);
        const read = block.subarray(0, bytesRead);
        for (let hit = read.indexOf(wanted); hit >= 0; hit = read.indexOf(wanted, hit + 1)) {
          while (index < this.length && this.#offsets[index]! < at + hit) index++;
          const line = this.#offsets[index] === at + hit ? await this.#line(file, index) : undefined;
          if (line?.uri === uri && (line.frame ?? 0) === (frame ?? 0)) return index;
        }
        if (bytesRead < block.length) return undefined;
        // What is wanted may begin in one block and end in the next.
        at += bytesRead - wanted.length + 1;
      }
    } finally {
      await file.close();
    }
  }

  async #line(file: FileHandle, index: number): Promise<SourceLine> {
    const [begin, end] = [this.#offsets[index]!, this.#offsets[index + 1]!];
    const length = Math.min(maxLineBytes, end - begin);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, begin);
    return JSON.parse(buffer.toString('utf8')) as SourceLine;
  }
}

/** The last lists that were asked for, at most: a page asks for one again and again. */
const mostKept = 4;

/** Lists of sources by path, as long as their files stay what they are. */
export class SourceLists {
  readonly #lists = new Map<string, { version: string; lines: Promise<SourceLines> }>();

  /** Rejects where there is no such file. */
  async at(path: string): Promise<SourceLines> {
    const { size, mtimeMs } = await stat(path);
    const version = `${size}-${mtimeMs}`;
    const known = this.#lists.get(path);
    this.#lists.delete(path);
    const list = known?.version === version ? known : { version, lines: SourceLines.open(path) };
    list.lines.catch(() => this.#lists.delete(path));
    this.#lists.set(path, list);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > mostKept) this.#lists.delete(oldest!);
    return list.lines;
  }
}

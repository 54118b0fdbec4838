import { lastUpTo } from '../layout/last-up-to.ts';
import { PlaceError, placeAt } from '../places/place-at.ts';
import { CopiedLines } from './copied-lines.ts';
import { firstLine, linesOf } from './list-lines.ts';
import { headOfRows, rowsOf } from './list-rows.ts';
import type { SourceBlocks } from './source-blocks.ts';
import { type ListName, listNames, type SourceLine } from './source-line.ts';

/** How many blocks are held: a reader that reads ahead alternates between two. */
const mostHeld = 2;
/** From this line of a block on, read in a row, the whole block is read. Earlier lines are read alone. */
const fewLines = 4;
/** How many lines are held, because they may be asked for again: more than the inputs that a plan looks up ahead. */
const mostLines = 1024;
/**
 * After this many single lines, each read with its whole block, the list is copied. Such a line takes 25 ms (measured);
 * a line of the copy takes 0.1 ms, and copying 10 µs a line.
 */
const fewJumps = 32;

/** Returns the path or s3: URI to read in place of `path`; rejects if it may not be read. */
type PathRule = (path: string) => string | Promise<string>;

/** Reads the list of a job's sources, sources.jsonl or sources.parquet, in order or by number. Holds some of it. */
export class SourceList {
  readonly path: string;
  readonly #blocks: SourceBlocks;
  /** The blocks that were read last. */
  readonly #held: { block: number; lineAt: Promise<(nth: number) => SourceLine> }[] = [];
  /** The last block with lines that were read alone, and how many of its lines in a row. */
  #alone = { block: -1, lines: 0 };
  /** The lines that `lineOfMany` read last, by their number modulo `mostLines`. */
  readonly #last = new Array<{ index: number; line: Promise<SourceLine> } | undefined>(mostLines);
  #jumps = 0;
  #copied: Promise<CopiedLines | undefined> | undefined;

  /**
   * The list in the folder of a job or pipeline, which is a path or s3: URI; undefined if the folder has no list.
   * Rejects with PlaceError if a bucket cannot be read, as all functions here do.
   */
  static async open(folder: string, rule: PathRule = (path) => path): Promise<SourceList | undefined> {
    const path = await listPath(folder, rule);
    return path === undefined ? undefined : SourceList.at(path);
  }

  /** The list at `path`, which ends with one of `listNames`. Rejects if it is missing or cannot be read. */
  static async at(path: string): Promise<SourceList> {
    const blocks = (isOfRows(path) ? rowsOf(path) : linesOf(path)).catch((cause: Error) => {
      if (cause instanceof PlaceError) throw cause;
      throw new Error(`'${path}' cannot be read: ${cause.message}`, { cause });
    });
    return new SourceList(path, await blocks);
  }

  private constructor(path: string, blocks: SourceBlocks) {
    this.path = path;
    this.#blocks = blocks;
  }

  /** The number of sources. */
  get length(): number {
    return this.#blocks.starts.at(-1)!;
  }

  /**
   * The source with that number, for a reader that asks for most sources, in any order, and for each several times in a
   * short time. A list whose lines cannot be read alone is copied, unless it is read mostly in its own order; so close
   * the list afterwards. Rejects as `line` does.
   */
  lineOfMany(index: number): Promise<SourceLine> {
    const known = this.#last[index % mostLines];
    if (known?.index === index) return known.line;
    const line = this.#lineOfMany(index);
    this.#last[index % mostLines] = { index, line };
    return line;
  }

  async #lineOfMany(index: number): Promise<SourceLine> {
    if (!this.#blocks.line && index >= 0 && index < this.length) {
      if (this.#jumps < fewJumps && this.#isAlone(this.#blockOf(index))) this.#jumps++;
      if (this.#jumps === fewJumps) {
        // Without room for a copy, reading goes on slowly.
        this.#copied ??= CopiedLines.create(this.lines(), this.length).catch(() => undefined);
      }
      const copied = await this.#copied;
      if (copied) return copied.line(index);
    }
    return this.line(index);
  }

  /** Closes the copy of `lineOfMany`, if there is one. */
  async close(): Promise<void> {
    await (await this.#copied)?.close();
  }

  /** The source with that number. Rejects if there is no such source, or it cannot be read. */
  async line(index: number): Promise<SourceLine> {
    if (!(index >= 0 && index < this.length)) throw new RangeError(`'${this.path}' has no source ${index}`);
    const block = this.#blockOf(index);
    if (this.#blocks.line && this.#isAlone(block)) return this.#blocks.line(index);
    return (await this.#read(block))(index - this.#blocks.starts[block]!);
  }

  /** The sources from number `from` on. */
  async *lines(from = 0): AsyncGenerator<SourceLine, void, undefined> {
    for (let index = from; index < this.length; ) {
      const block = this.#blockOf(index);
      const [first, end] = [this.#blocks.starts[block]!, this.#blocks.starts[block + 1]!];
      const lineAt = await this.#read(block);
      for (; index < end; index++) yield lineAt(index - first);
    }
  }

  /** How many sources before that number are not quarantined, which have rows in features.parquet. */
  async doneBefore(index: number): Promise<number> {
    if (index === 0) return 0;
    const block = this.#blockOf(index - 1);
    const first = this.#blocks.starts[block]!;
    const lineAt = await this.#read(block);
    let quarantined = this.#blocks.quarantinedBefore[block]!;
    for (let nth = 0; nth < index - first; nth++) if (lineAt(nth).quarantined) quarantined++;
    return index - quarantined;
  }

  /** The number of the source with this URI and, in a video, this frame; undefined if the list does not have it. */
  async find(uri: string, frame = 0): Promise<number | undefined> {
    const { starts } = this.#blocks;
    for (let block = 0; block < starts.length - 1; block++) {
      const lineAt = await this.#blocks.read(block, uri);
      for (let index = starts[block]!; lineAt && index < starts[block + 1]!; index++) {
        const line = lineAt(index - starts[block]!);
        if (line.uri === uri && (line.frame ?? 0) === frame) return index;
      }
    }
    return undefined;
  }

  /** Whether a line of the block is better read alone, because the block does not continue the blocks read before. */
  #isAlone(block: number): boolean {
    if (this.#held.some((held) => held.block === block || held.block === block - 1)) return false;
    this.#alone = { block, lines: this.#alone.block === block ? this.#alone.lines + 1 : 1 };
    return this.#alone.lines < fewLines;
  }

  #read(block: number): Promise<(nth: number) => SourceLine> {
    const known = this.#held.find((held) => held.block === block);
    if (known) return known.lineAt;
    // Not undefined, because no URI is given.
    const held = { block, lineAt: this.#blocks.read(block).then((lineAt) => lineAt!) };
    this.#held.push(held);
    if (this.#held.length > mostHeld) this.#held.shift();
    held.lineAt.catch(() => {
      const at = this.#held.indexOf(held);
      if (at >= 0) this.#held.splice(at, 1);
    });
    return held.lineAt;
  }

  #blockOf(index: number): number {
    return lastUpTo(this.#blocks.starts, index);
  }
}

/** The path of the list in a folder; undefined if the folder has no list. */
export async function listPath(folder: string, rule: PathRule = (path) => path): Promise<string | undefined> {
  for (const name of Object.values(listNames)) {
    const path = await rule(placeAt(folder).in(name).at);
    if (await placeAt(path).file()) return path;
  }
  return undefined;
}

/** The head of the list in a folder, as JSON; empty if the folder has no list. Does not read the rest of the list. */
export async function headOfList(folder: string): Promise<string> {
  const path = await listPath(folder);
  if (path === undefined) return '';
  return isOfRows(path) ? headOfRows(path) : firstLine(path);
}

const isOfRows = (path: string): boolean => path.endsWith(`.${listNames.rows.split('.')[1]}`);

export { type ListName, listNames, type SourceLine };

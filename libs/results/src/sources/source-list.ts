import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { lastUpTo } from '../layout/last-up-to.ts';
import { CopiedLines } from './copied-lines.ts';
import { firstLine, linesOf } from './list-lines.ts';
import { headOfRows, rowsOf } from './list-rows.ts';
import type { SourceBlocks } from './source-blocks.ts';
import { type ListName, listNames, type SourceLine } from './source-line.ts';

/** Blocks that are held: who reads ahead goes to and fro between two. */
const mostHeld = 2;
/** Lines of a block that are read alone, one after another, before all of it is. */
const fewLines = 4;
/** Lines that are held for who asks for them again: more than the inputs that a plan looks up ahead. */
const mostLines = 1024;
/**
 * Lines that are read for themselves, each with its block, before the list is copied for others: 25 ms each (measured),
 * where a line of a copy takes 0.1 ms, and the copy 10 µs a line.
 */
const fewJumps = 32;

/** Says of a path where it may be read; rejects where it may not. */
type PathRule = (path: string) => string | Promise<string>;

/** Reads the list of a job's sources, sources.jsonl or sources.parquet, in order or by number. Holds some of it. */
export class SourceList {
  readonly path: string;
  readonly #blocks: SourceBlocks;
  /** Blocks that were read last. */
  readonly #held: { block: number; lineAt: Promise<(nth: number) => SourceLine> }[] = [];
  /** The block of lines that were read alone, and how many one after another. */
  #alone = { block: -1, lines: 0 };
  /** Those that `lineOfMany` read last, each in the slot of its number. */
  readonly #last = new Array<{ index: number; line: Promise<SourceLine> } | undefined>(mostLines);
  #jumps = 0;
  #copied: Promise<CopiedLines | undefined> | undefined;

  /** The list in the folder of a job or pipeline. Undefined where there is none. */
  static async open(folder: string, rule: PathRule = (path) => path): Promise<SourceList | undefined> {
    const path = await listPath(folder, rule);
    return path === undefined ? undefined : SourceList.at(path);
  }

  /** The list at that path, one of whose names it has. Rejects where it is not there or cannot be read. */
  static async at(path: string): Promise<SourceList> {
    const blocks = (isOfRows(path) ? rowsOf(path) : linesOf(path)).catch((cause: Error) => {
      throw new Error(`'${path}' cannot be read: ${cause.message}`, { cause });
    });
    return new SourceList(path, await blocks);
  }

  private constructor(path: string, blocks: SourceBlocks) {
    this.path = path;
    this.#blocks = blocks;
  }

  /** Sources. */
  get length(): number {
    return this.#blocks.starts.at(-1)!;
  }

  /**
   * The source of that number, for a reader that asks for most of them, in whatever order, and for each several times
   * soon after. A list whose lines cannot be read alone is copied, unless the order is mostly its own. It is to be
   * closed then. Rejects as `line`.
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
        // Without room for it, all goes on slowly.
        this.#copied ??= CopiedLines.create(this.lines(), this.length).catch(() => undefined);
      }
      const copied = await this.#copied;
      if (copied) return copied.line(index);
    }
    return this.line(index);
  }

  /** Ends what `lineOfMany` needs. */
  async close(): Promise<void> {
    await (await this.#copied)?.close();
  }

  /** The source of that number. Rejects where there is none, or it cannot be read. */
  async line(index: number): Promise<SourceLine> {
    if (!(index >= 0 && index < this.length)) throw new RangeError(`'${this.path}' has no source ${index}`);
    const block = this.#blockOf(index);
    if (this.#blocks.line && this.#isAlone(block)) return this.#blocks.line(index);
    return (await this.#read(block))(index - this.#blocks.starts[block]!);
  }

  /** The sources from that number on. */
  async *lines(from = 0): AsyncGenerator<SourceLine, void, undefined> {
    for (let index = from; index < this.length; ) {
      const block = this.#blockOf(index);
      const [first, end] = [this.#blocks.starts[block]!, this.#blocks.starts[block + 1]!];
      const lineAt = await this.#read(block);
      for (; index < end; index++) yield lineAt(index - first);
    }
  }

  /** How many sources before that number are not quarantined: features.parquet has rows of those. */
  async doneBefore(index: number): Promise<number> {
    if (index === 0) return 0;
    const block = this.#blockOf(index - 1);
    const first = this.#blocks.starts[block]!;
    const lineAt = await this.#read(block);
    let quarantined = this.#blocks.quarantinedBefore[block]!;
    for (let nth = 0; nth < index - first; nth++) if (lineAt(nth).quarantined) quarantined++;
    return index - quarantined;
  }

  /** The number of the source with that URI, and of a video that frame; undefined where there is none. */
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

  /** Whether others of the block are unlikely to be asked for next: it does not follow those that were. */
  #isAlone(block: number): boolean {
    if (this.#held.some((held) => held.block === block || held.block === block - 1)) return false;
    this.#alone = { block, lines: this.#alone.block === block ? this.#alone.lines + 1 : 1 };
    return this.#alone.lines < fewLines;
  }

  #read(block: number): Promise<(nth: number) => SourceLine> {
    const known = this.#held.find((held) => held.block === block);
    if (known) return known.lineAt;
    // A block has lines unless it is asked for a URI.
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

/** Where the list of a folder is; undefined where it has none. */
export async function listPath(folder: string, rule: PathRule = (path) => path): Promise<string | undefined> {
  for (const name of Object.values(listNames)) {
    const path = await rule(join(folder, name));
    if (await stat(path).catch(() => undefined)) return path;
  }
  return undefined;
}

/** What the list of a folder says of itself, as JSON; empty where there is none. Does not read the list. */
export async function headOfList(folder: string): Promise<string> {
  const path = await listPath(folder);
  if (path === undefined) return '';
  return isOfRows(path) ? headOfRows(path) : firstLine(path);
}

const isOfRows = (path: string): boolean => path.endsWith(`.${listNames.rows.split('.')[1]}`);

export { type ListName, listNames, type SourceLine };

import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { areSameResults } from '@halogrid/service/version';
import { resultsVersionOf, type SourceLine } from './source-line.ts';

/** A file of an earlier job: its line in sources.jsonl, or those of all its frames. */
export interface EarlierFile {
  /** Where its first line begins, in bytes. */
  offset: number;
  /** How many sources come before it, and how many of those are done. */
  sourcesBefore: number;
  doneBefore: number;
  /** Its sources: 1, or as many as it has frames. */
  sources: number;
  areAllDone: boolean;
}

/**
 * What sources.jsonl of an earlier job says, by file: some 50 bytes each. A file is found by a hash of its URI, so the line
 * that it leads to is to be looked at.
 */
export class EarlierIndex {
  /** The version of its results. */
  readonly #version: number;
  readonly #keys: number[] = [];
  readonly #offsets: number[] = [];
  readonly #sourcesBefore: number[] = [];
  readonly #doneBefore: number[] = [];
  readonly #quarantined: number[] = [];
  #taken = new Uint8Array();
  /** One more than the number of a file, where its key or the next free place after that is. */
  #slots = new Int32Array();

  /**
   * Undefined where there is no such file, or none of its results is what this version computes. Rejects where it
   * cannot be read, and with one sentence where it is not as it was written. `look` is shown every source, in order.
   */
  static async load(path: string, look: (line: SourceLine) => void = () => {}): Promise<EarlierIndex | undefined> {
    let index: EarlierIndex | undefined;
    let before: SourceLine | undefined;
    let [sources, done] = [0, 0];
    for await (const { text, offset } of linesOf(path)) {
      if (offset === 0) {
        const version = resultsVersionOf(text);
        if (version === undefined || !areSameResults(version, false)) return undefined;
        index = new EarlierIndex(version);
        continue;
      }
      const line = parseLine(text, path);
      look(line);
      if (!index) return undefined;
      if (!before || !isSameFile(before, line)) index.#add(line.uri, offset, sources, done);
      sources++;
      if (line.quarantined) index.#quarantined[index.files - 1]!++;
      else done++;
      before = line;
    }
    if (!index || sources === 0) return undefined;
    index.#end(sources, done);
    return index;
  }

  private constructor(version: number) {
    this.#version = version;
  }

  /** Whether its results are what this version computes, of images or of frames of recordings. */
  isSame(isOfRecording: boolean): boolean {
    return areSameResults(this.#version, isOfRecording);
  }

  get files(): number {
    return this.#keys.length;
  }

  /** Sources that are done. */
  get done(): number {
    return this.#doneBefore[this.files]!;
  }

  file(file: number): EarlierFile {
    const sourcesBefore = this.#sourcesBefore[file]!;
    return {
      offset: this.#offsets[file]!,
      sourcesBefore,
      doneBefore: this.#doneBefore[file]!,
      sources: this.#sourcesBefore[file + 1]! - sourcesBefore,
      areAllDone: this.#quarantined[file] === 0,
    };
  }

  /** The first file of that URI that was not taken before, and takes it: one that is listed twice is there twice. */
  take(uri: string): number | undefined {
    const key = keyOf(uri);
    for (let slot = key % this.#slots.length; this.#slots[slot]! > 0; slot = (slot + 1) % this.#slots.length) {
      const file = this.#slots[slot]! - 1;
      if (this.#keys[file] !== key || this.#taken[file]) continue;
      this.#taken[file] = 1;
      return file;
    }
    return undefined;
  }

  /** The files that were not taken, in order. */
  *left(): Generator<number> {
    for (let file = 0; file < this.files; file++) if (!this.#taken[file]) yield file;
  }

  #add(uri: string, offset: number, sourcesBefore: number, doneBefore: number): void {
    this.#keys.push(keyOf(uri));
    this.#offsets.push(offset);
    this.#sourcesBefore.push(sourcesBefore);
    this.#doneBefore.push(doneBefore);
    this.#quarantined.push(0);
  }

  #end(sources: number, done: number): void {
    this.#sourcesBefore.push(sources);
    this.#doneBefore.push(done);
    this.#taken = new Uint8Array(this.files);
    this.#slots = new Int32Array(2 * this.files);
    for (let file = 0; file < this.files; file++) {
      let slot = this.#keys[file]! % this.#slots.length;
      while (this.#slots[slot]! > 0) slot = (slot + 1) % this.#slots.length;
      this.#slots[slot] = file + 1;
    }
  }
}

function parseLine(text: string, path: string): SourceLine {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`'${path}' has changed since it was written; a fresh run computes everything again`, { cause });
  }
}

/** Whether a source is of the file that the source before is of: of a video, its next frame, or what comes behind the last. */
export function isSameFile(before: { uri: string; frame?: number }, next: { uri: string; frame?: number }): boolean {
  if (before.uri !== next.uri || before.frame === undefined) return false;
  return next.frame === undefined || next.frame > before.frame;
}

/** 48 bits: two of a million files share one in fewer than one of 500 archives, and one of them is computed again then. */
const keyOf = (uri: string): number => hash('sha256', uri, 'buffer').readUIntBE(0, 6);

/** The lines of a file and where they begin, in bytes; none where there is no file. */
async function* linesOf(path: string): AsyncGenerator<{ text: string; offset: number }> {
  let rest = Buffer.alloc(0);
  let offset = 0;
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 2 ** 18 })) {
      rest = Buffer.concat([rest, piece]);
      let from = 0;
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, from)) {
        yield { text: rest.toString('utf8', from, end), offset: offset + from };
        from = end + 1;
      }
      offset += from;
      rest = rest.subarray(from);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

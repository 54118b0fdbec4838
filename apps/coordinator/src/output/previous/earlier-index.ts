import { hash } from 'node:crypto';
import { resultsVersionOf } from '@halogrid/results/list-head';
import { isSameFile } from '@halogrid/results/same-file';
import type { SourceLine, SourceList } from '@halogrid/results/source-list';
import { areSameResults } from '@halogrid/service/version';

/** A file of an earlier job: its line in the list of sources, or the lines of all its frames. */
export interface EarlierFile {
  /** How many sources come before the file, and how many of these are done. */
  sourcesBefore: number;
  doneBefore: number;
  /** How many sources it has: 1, or its number of frames. */
  sources: number;
  areAllDone: boolean;
}

/**
 * The list of sources of an earlier job, by file, in some 40 bytes a file. A file is found by a hash of its URI, so the
 * caller must compare the URI in the line.
 */
export class EarlierIndex {
  /** The results version of the earlier job. */
  readonly #version: number;
  readonly #keys: number[] = [];
  readonly #sourcesBefore: number[] = [];
  readonly #doneBefore: number[] = [];
  readonly #quarantined: number[] = [];
  #taken = new Uint8Array();
  /** A hash table with linear probing: one more than the number of a file; 0: free. */
  #slots = new Int32Array();

  /**
   * Undefined if the list has no sources, or if this version would compute all results differently (`head` has their
   * version). Rejects if the list cannot be read, and with one sentence if it was changed after it was written. `look`
   * is called with every source, in order.
   */
  static async load(
    list: SourceList,
    head: string,
    look: (line: SourceLine) => void = () => {},
  ): Promise<EarlierIndex | undefined> {
    const version = resultsVersionOf(head);
    if (version === undefined || !areSameResults(version, false) || list.length === 0) return undefined;
    const index = new EarlierIndex(version);
    let before: SourceLine | undefined;
    let [sources, done] = [0, 0];
    try {
      for await (const line of list.lines()) {
        look(line);
        if (!before || !isSameFile(before, line)) index.#add(line.uri, sources, done);
        sources++;
        if (line.quarantined) index.#quarantined[index.files - 1]!++;
        else done++;
        before = line;
      }
    } catch (cause) {
      throw new Error(`'${list.path}' has changed since it was written; a fresh run computes everything again`, {
        cause,
      });
    }
    index.#end(sources, done);
    return index;
  }

  private constructor(version: number) {
    this.#version = version;
  }

  /** Whether this version computes the same results, for images or for frames of recordings. */
  isSame(isOfRecording: boolean): boolean {
    return areSameResults(this.#version, isOfRecording);
  }

  get files(): number {
    return this.#keys.length;
  }

  /** The number of done sources. */
  get done(): number {
    return this.#doneBefore[this.files]!;
  }

  file(file: number): EarlierFile {
    const sourcesBefore = this.#sourcesBefore[file]!;
    return {
      sourcesBefore,
      doneBefore: this.#doneBefore[file]!,
      sources: this.#sourcesBefore[file + 1]! - sourcesBefore,
      areAllDone: this.#quarantined[file] === 0,
    };
  }

  /** Takes the first file with that URI that is not taken yet: a file that is listed twice can be taken twice. */
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

  #add(uri: string, sourcesBefore: number, doneBefore: number): void {
    this.#keys.push(keyOf(uri));
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

/**
 * 48 bits: in fewer than one of 500 archives of a million files, two files have the same key; then one of them is
 * computed again.
 */
const keyOf = (uri: string): number => hash('sha256', uri, 'buffer').readUIntBE(0, 6);

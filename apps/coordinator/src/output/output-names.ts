import { type TextRange, textOf } from '@halogrid/sources/source-block';
import type { JobResults, SourceOutcome } from '../ledger/ledger.ts';
import { LastName } from './last-name.ts';
import { NameSet } from './name-set.ts';

/** A source, and the name of its files without extensions. */
export interface NamedSource<Source = SourceOutcome> {
  source: Source;
  name: string;
}

/** All sources of a job in order, told one by one. */
export function* namedSources({ sources }: Pick<JobResults, 'sources'>): Generator<NamedSource> {
  let named = 0;
  const names = new OutputNames(() => stemsOf(sources, named));
  for (const source of sources) {
    yield { source, name: names.next(source.name) };
    named++;
  }
}

/** What the first sources are named after, as long as none of them has a name like another's. */
function* stemsOf(sources: Iterable<SourceOutcome>, count: number): Generator<string> {
  let left = count;
  for (const { name } of sources) {
    if (left-- === 0) return;
    yield safeName(stemOf(name));
  }
}

/** Bytes of a name at most: file systems allow 255 with the suffixes that follow. */
const maxNameBytes = 200;

/**
 * A file name without extension for each source, in order: its name's stem (`cam1/0001.jpg` gives `cam1-0001`); where that
 * is taken, with the extension (`cam1-0001.jpg`); where that is taken too, with a number (`cam1-0001-2`). Names are unique
 * without regard to case, never hidden, and hold only letters and digits of any script, `.`, `-` and `_`.
 *
 * As long as names come in natural order, as those of a folder do, the last one tells that the next is free, and no other is kept.
 */
export class OutputNames {
  readonly #earlier: () => Iterable<string>;
  /** Those before, once one comes that does not follow the last. */
  #taken: NameSet | undefined;
  readonly #last = new LastName(maxNameBytes);
  readonly #lastNumbers = new Map<string, number>();
  /** The name that was given last as UTF-8, and in lower case. */
  readonly #text = { bytes: Buffer.alloc(2 * maxNameBytes), from: 0, end: 0 };
  readonly #lower = Buffer.alloc(maxNameBytes);

  /** `earlier` tells all names that were given so far. */
  constructor(earlier: () => Iterable<string>) {
    this.#earlier = earlier;
  }

  /** The name of the next source. */
  next(sourceName: string): string {
    const stem = safeName(stemOf(sourceName));
    if (this.#take(stem.toLowerCase())) return stem;
    const full = safeName(sourceName);
    if (this.#take(full.toLowerCase())) return full;
    let number = this.#lastNumbers.get(stem) ?? 1;
    let name: string;
    do {
      name = `${stem}-${++number}`;
    } while (!this.#take(name.toLowerCase()));
    this.#lastNumbers.set(stem, number);
    return name;
  }

  /** The same as UTF-8, of a name that is; valid until the next. */
  nextText(name: TextRange): TextRange {
    const text = this.#text;
    text.end = this.#plainStem(name);
    if (text.end === 0 || this.#taken || !this.#last.takeBytes(this.#lower, text.end)) {
      text.end = text.bytes.write(this.next(textOf(name)));
    }
    return text;
  }

  /**
   * Writes the safe stem of a name, which is made of its bytes one by one where each part of the name is plain, and returns how many bytes
   * it has; 0 where it takes more.
   */
  #plainStem({ bytes, from, end }: TextRange): number {
    if (end - from > maxNameBytes) return 0;
    const stem = this.#text.bytes;
    const lower = this.#lower;
    let before = slash;
    let stemEnd = end - from;
    for (let i = from; i < end; i++) {
      const byte = bytes[i]!;
      const at = i - from;
      if (byte === slash) {
        if (before === slash) return 0;
        stemEnd = end - from;
        stem[at] = lower[at] = dash;
      } else {
        if (!isPlainUnit[byte]) return 0;
        if (byte === dot) {
          if (before === slash) return 0;
          stemEnd = at;
        }
        stem[at] = byte;
        lower[at] = byte >= upperA && byte <= upperZ ? byte | 0x20 : byte;
      }
      before = byte;
    }
    return before === slash ? 0 : stemEnd;
  }

  #take(lower: string): boolean {
    if (!this.#taken && this.#last.take(lower)) return true;
    this.#taken ??= this.#setOfEarlier();
    return this.#taken.take(lower);
  }

  #setOfEarlier(): NameSet {
    const taken = new NameSet();
    for (const name of this.#earlier()) taken.take(name.toLowerCase());
    return taken;
  }
}

/** The name without its extension; a dot at its front begins none. */
function stemOf(name: string): string {
  const dot = name.lastIndexOf('.');
  const isExtension =
    dot > 0 && !isSeparator(name, dot - 1) && name.indexOf('/', dot) < 0 && name.indexOf('\\', dot) < 0;
  return isExtension ? name.slice(0, dot) : name;
}

const isSeparator = (text: string, at: number): boolean => text[at] === '/' || text[at] === '\\';

const [slash, dot, dash, upperA, upperZ] = [...'/.-AZ'].map((character) => character.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
  number,
];
/** By code unit, whether a part of a name may have it. */
const isPlainUnit = Array.from({ length: 128 }, (_, unit) => /[\w.-]/.test(String.fromCharCode(unit)));

/** Whether each part between slashes stays as it is, as those of nearly all files do. */
function isPlain(text: string): boolean {
  let before = slash;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const isRight = unit === slash ? before !== slash : isPlainUnit[unit] && !(unit === dot && before === slash);
    if (!isRight) return false;
    before = unit;
  }
  return before !== slash;
}

/** Folders become prefixes, other characters `_`; dots at the front, which hide a file or climb, go. */
function safeName(text: string): string {
  // Without it, the names of 60,000 frames took a quarter of a second whenever a file of the output asked for them (measured).
  if (text.length <= maxNameBytes && isPlain(text)) return text.replaceAll('/', '-');
  const parts = text.normalize('NFC').split(/[/\\]+/);
  const safe = parts.map((part) => part.replace(/[^\p{L}\p{M}\p{N}._-]/gu, '_').replace(/^\.+/, '')).filter(Boolean);
  return shorten(safe.join('-')) || 'source';
}

/** The end of the name is kept, because that is what tells frames apart. */
function shorten(name: string): string {
  const characters = [...name];
  let bytes = Buffer.byteLength(name);
  let dropped = 0;
  while (bytes > maxNameBytes) bytes -= Buffer.byteLength(characters[dropped++]!);
  return characters.slice(dropped).join('').replace(/^\.+/, '');
}

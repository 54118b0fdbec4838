import { columns, texts } from '@halogrid/sources/columns';
import { NameSet } from './name-set.ts';

/** The most bytes of a name: file systems allow 255, and suffixes follow. */
const maxNameBytes = 200;

/** Names in a block. Names that come in ascending order are kept in blocks, with some 6 bytes each. */
const blockNames = 4096;

const nameBlock = columns(
  { what: 'A block of names', format: 1, maxRows: blockNames, maxTextBytes: 3 * maxNameBytes * blockNames },
  { name: texts() },
  {},
);

/**
 * Gives each source, in order, a file name without extension: the stem of the source's name (`cam1/0001.jpg` gives
 * `cam1-0001`). If that is taken, the extension is added (`cam1-0001.jpg`); if that is taken too, a number
 * (`cam1-0001-2`). Names are unique without regard to case, never hidden, and hold only letters and digits of any
 * script, `.`, `-` and `_`.
 *
 * A name that sorts after the last one is free. Looking up every name took a tenth of a plan's time (measured).
 */
export class OutputNames {
  /** The last name and the names so far, in lower case; not used any more once `#taken` has them. */
  #last = '';
  #blocks: Uint8Array[] = [];
  #block = nameBlock.writer();
  #taken: NameSet | undefined;
  readonly #lastNumbers = new Map<string, number>();

  /** The name of the next source. */
  next(sourceName: string): string {
    const stem = plainStem(sourceName) ?? safeName(stemOf(sourceName));
    if (this.#take(stem)) return stem;
    const full = safeName(sourceName);
    if (this.#take(full)) return full;
    let number = this.#lastNumbers.get(stem) ?? 1;
    let name: string;
    do {
      name = `${stem}-${++number}`;
    } while (!this.#take(name));
    this.#lastNumbers.set(stem, number);
    return name;
  }

  #take(name: string): boolean {
    const lower = name.toLowerCase();
    if (this.#taken) return this.#taken.take(lower);
    if (lower > this.#last) {
      this.#last = lower;
      if (this.#block.rows === blockNames) this.#closeBlock();
      this.#block.columns.name.put(this.#block.begin(), lower);
      return true;
    }
    this.#closeBlock();
    this.#taken = new NameSet();
    for (const { rows, name } of this.#blocks.map((block) => nameBlock.read(block))) {
      for (let row = 0; row < rows; row++) this.#taken.take(name.at(row)!);
    }
    this.#blocks = [];
    return this.#taken.take(lower);
  }

  #closeBlock(): void {
    this.#blocks.push(this.#block.pack());
    this.#block = nameBlock.writer();
  }
}

/** The name without its extension. A leading dot does not begin an extension. */
function stemOf(name: string): string {
  const dot = name.lastIndexOf('.');
  const isExtension =
    dot > 0 && !isSeparator(name, dot - 1) && name.indexOf('/', dot) < 0 && name.indexOf('\\', dot) < 0;
  return isExtension ? name.slice(0, dot) : name;
}

const isSeparator = (text: string, at: number): boolean => text[at] === '/' || text[at] === '\\';

const [slash, dot, dash] = [0x2f, 0x2e, 0x2d];
/** The stem that is being made. */
const stem = Buffer.alloc(maxNameBytes);
/** For each code unit of ASCII, whether a part of a name may have it. */
const isPlainUnit = Array.from({ length: 128 }, (_, unit) => /[\w.-]/.test(String.fromCharCode(unit)));

/**
 * The stem of a name whose parts between slashes are safe already, as in nearly all archives; undefined for other
 * names. It takes one pass: without it, safeName and stemOf took a tenth of a plan's time (measured).
 */
function plainStem(name: string): string | undefined {
  if (name.length > maxNameBytes) return undefined;
  let before = slash;
  let stemEnd = name.length;
  let hasFolder = false;
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    stem[i] = unit === slash ? dash : unit;
    if (unit === slash) {
      if (before === slash) return undefined;
      hasFolder = true;
      stemEnd = name.length;
    } else {
      if (!isPlainUnit[unit]) return undefined;
      if (unit === dot) {
        if (before === slash) return undefined;
        stemEnd = i;
      }
    }
    before = unit;
  }
  if (before === slash) return undefined;
  return hasFolder ? stem.toString('latin1', 0, stemEnd) : name.slice(0, stemEnd);
}

/**
 * Folders become prefixes, other characters `_`. Leading dots are removed, because they hide a file or lead to a parent
 * folder.
 */
function safeName(text: string): string {
  const parts = text.normalize('NFC').split(/[/\\]+/);
  const safe = parts.map((part) => part.replace(/[^\p{L}\p{M}\p{N}._-]/gu, '_').replace(/^\.+/, '')).filter(Boolean);
  return shorten(safe.join('-')) || 'source';
}

/** Keeps the end of the name, because it distinguishes frames. */
function shorten(name: string): string {
  const characters = [...name];
  let bytes = Buffer.byteLength(name);
  let dropped = 0;
  while (bytes > maxNameBytes) bytes -= Buffer.byteLength(characters[dropped++]!);
  return characters.slice(dropped).join('').replace(/^\.+/, '');
}

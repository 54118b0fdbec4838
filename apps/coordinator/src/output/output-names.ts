import type { JobResults, SourceOutcome } from '../ledger/ledger.ts';
import { NameSet } from './name-set.ts';

/** A source, and the name of its files without extensions. */
export interface NamedSource<Source = SourceOutcome> {
  source: Source;
  name: string;
}

/** All sources of a job in order, told one by one. */
export function* namedSources({ sources }: Pick<JobResults, 'sources'>): Generator<NamedSource> {
  const names = new OutputNames();
  for (const source of sources) yield { source, name: names.next(source.name) };
}

/** Bytes of a name at most: file systems allow 255 with the suffixes that follow. */
const maxNameBytes = 200;

/**
 * A file name without extension for each source, in order: its name's stem (`cam1/0001.jpg` gives `cam1-0001`); where that
 * is taken, with the extension (`cam1-0001.jpg`); where that is taken too, with a number (`cam1-0001-2`). Names are unique
 * without regard to case, never hidden, and hold only letters and digits of any script, `.`, `-` and `_`.
 */
export class OutputNames {
  readonly #taken = new NameSet();
  readonly #lastNumbers = new Map<string, number>();

  /** The name of the next source. */
  next(sourceName: string): string {
    const stem = safeName(sourceName.replace(/(?<=[^/\\])\.[^./\\]*$/, ''));
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
    return this.#taken.take(name.toLowerCase());
  }
}

/** Parts that stay as they are, as those of nearly all files do. */
const plainParts = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

/** Folders become prefixes, other characters `_`; dots at the front, which hide a file or climb, go. */
function safeName(text: string): string {
  // Without it, the names of 60,000 frames took a quarter of a second whenever a file of the output asked for them (measured).
  if (text.length <= maxNameBytes && plainParts.test(text)) return text.replaceAll('/', '-');
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

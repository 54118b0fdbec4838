import { isUtf8 } from 'node:buffer';
import { type TarBytes, type TarEntry, tarEntries } from '../tars/tar-entries.ts';
import { compareNatural } from './natural-order.ts';
import { escapeBytes } from './raw-name.ts';
import { type NameOrder, sortNames } from './sort-names.ts';

/** A member of a tar, named as a file of a folder. */
export interface Member {
  /** Without '.', '..' and empty parts. */
  name: string;
  start: number;
  length: number;
  /** 'misnamed': the name is not UTF-8; it is then its bytes, escaped. */
  kind: TarEntry['kind'] | 'misnamed';
}

/**
 * Members are sorted as records: place and length in so many digits to base 36, a letter, and the name, with a control
 * character for '/': so a folder's names are together, as in a folder on disk.
 */
const digits = 11;
const factDigits = 2 * digits + 1;
const separator = '\x01';
const letters = { file: 'f', sparse: 's', link: 'l', misnamed: 'n' } as const satisfies Record<Member['kind'], string>;
const kinds = new Map(Object.entries(letters).map(([kind, letter]) => [letter as string, kind as Member['kind']]));

/** Entries that are sorted or handed on at once. */
const atOnce = 256;

/**
 * The members of a tar, in the order of a folder with these files, and of several with one name the last; or unsorted,
 * as they come. Throws as tarEntries does, after the members before.
 */
export async function* tarMembers(tar: TarBytes, isSorted: boolean): AsyncGenerator<Member[], void, undefined> {
  let failure: unknown;
  const records = async function* (): AsyncGenerator<string[], void, undefined> {
    let some: string[] = [];
    try {
      for await (const entry of tarEntries(tar)) {
        some.push(recordOf(entry));
        if (some.length < atOnce) continue;
        yield some;
        some = [];
      }
    } catch (error) {
      failure = error;
    }
    yield some;
  };
  if (!isSorted) for await (const some of records()) yield some.map(memberOf);
  else yield* lastOfEach(sortNames(records(), order));
  if (failure !== undefined) throw failure;
}

const order: NameOrder = {
  from: factDigits,
  compare: (a, b) => compareNatural(a.slice(factDigits), b.slice(factDigits)) || (a < b ? -1 : 1),
};

async function* lastOfEach(chunks: AsyncIterable<readonly string[]>): AsyncGenerator<Member[], void, undefined> {
  let last: string | undefined;
  for await (const records of chunks) {
    const members: Member[] = [];
    for (const record of records) {
      if (last !== undefined && last.slice(factDigits) !== record.slice(factDigits)) members.push(memberOf(last));
      last = record;
    }
    yield members;
  }
  if (last !== undefined) yield [memberOf(last)];
}

function recordOf({ kind, name: bytes, start, length }: TarEntry): string {
  const isNamed = isUtf8(bytes) && !bytes.includes(separator);
  const name = isNamed ? bytes.toString() : bytes.toString('latin1').split('/').map(escapeLatin1).join('/');
  const parts = name.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  const letter = letters[isNamed ? kind : 'misnamed'];
  return base36(start) + base36(length) + letter + parts.join(separator);
}

const escapeLatin1 = (part: string): string => escapeBytes(Buffer.from(part, 'latin1'));
const base36 = (value: number): string => value.toString(36).padStart(digits, '0');

const memberOf = (record: string): Member => ({
  start: Number.parseInt(record.slice(0, digits), 36),
  length: Number.parseInt(record.slice(digits, 2 * digits), 36),
  kind: kinds.get(record[2 * digits]!)!,
  name: record.slice(factDigits).replaceAll(separator, '/'),
});

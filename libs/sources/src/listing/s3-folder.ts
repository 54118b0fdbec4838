import { hash } from 'node:crypto';
import { listPages } from '../buckets/list-page.ts';
import { type EntryKind, passedOver, type Selection } from '../globs/selection.ts';
import type { BucketUri } from '../remote/remote-uri.ts';
import { isStoreName } from '../zarr/store-name.ts';
import type { FoundFile } from './found-file.ts';
import { compareNatural } from './natural-order.ts';
import { type NameOrder, sortNames } from './sort-names.ts';
import type { WalkOptions } from './walk-folder.ts';

/**
 * The most folders of a bucket that are listed ahead, while the folders before them are handed out: each request takes
 * 20 to 100 ms.
 */
const foldersAhead = 16;

/**
 * The selected objects whose keys begin with the key of a URI, which is empty or ends with '/'. '/' separates folders,
 * and the order is the order of a folder on disk with the same names. Few names of a folder are in memory at a time,
 * so a bucket of any size may be walked. There is a request for every thousand names and one for every folder; some
 * folders are requested side by side if names are sorted. Rejects with InputError.
 */
export async function* walkBucket(
  { scheme, bucket, key: prefix }: BucketUri,
  selection: Selection,
  { isSorted = true, onPassedOver = () => {} }: WalkOptions = {},
): AsyncGenerator<FoundFile[], void, undefined> {
  yield* walk({ scheme, bucket, root: prefix, isSorted, onPassedOver, ahead: 0 }, '', selection);
}

interface Walk {
  scheme: BucketUri['scheme'];
  bucket: string;
  root: string;
  isSorted: boolean;
  onPassedOver: NonNullable<WalkOptions['onPassedOver']>;
  /** Folders that are being listed ahead. */
  ahead: number;
}

/** A folder that is being listed. */
interface Begun {
  files: AsyncGenerator<FoundFile[], void, undefined>;
  first: Promise<IteratorResult<FoundFile[], void>>;
}

/**
 * Names are sorted as records: the size and the beginning of a hash of the version, in these numbers of characters,
 * then a letter for a file or a folder, then the name.
 */
const sizeDigits = 11;
const versionDigits = 16;
const factDigits = sizeDigits + versionDigits;
const letters = { file: 'f', folder: 'd', store: 's' } as const;

async function* walk(place: Walk, path: string, selection: Selection): AsyncGenerator<FoundFile[], void, undefined> {
  const names = listLevel(place, path, selection);
  for await (const records of place.isSorted ? sortNames(names, recordOrder) : names) {
    const folders = foldersAmong(place, path, selection, records);
    let files: FoundFile[] = [];
    try {
      for (const record of records) {
        const name = record.slice(factDigits + 1);
        if (record[factDigits] === letters.file) {
          const version = record.slice(sizeDigits, factDigits).trim();
          const sizeBytes = Number.parseInt(record.slice(0, sizeDigits), 36);
          files.push({ name: path + name, sizeBytes, ...(version && { version }) });
        } else if (record[factDigits] === letters.store) files.push({ name: path + name, sizeBytes: 0, isStore: true });
        else {
          if (files.length > 0) yield files;
          files = [];
          yield* folders.take();
        }
      }
      if (files.length > 0) yield files;
    } finally {
      folders.close();
    }
  }
}

/** The folders among records, in order. If they are sorted, some are begun before they are taken. */
function foldersAmong(place: Walk, path: string, selection: Selection, records: readonly string[]) {
  const names = records.filter((record) => record[factDigits] === letters.folder);
  const begun: Begun[] = [];
  let next = 0;
  const begin = (): Begun => {
    const name = names[next++]!.slice(factDigits + 1);
    const inside = selection.enter(name, false);
    const files = inside ? walk(place, `${path}${name}/`, inside) : nothing();
    const first = files.next();
    // `take` gives the failure to its caller.
    first.catch(() => {});
    return { files, first };
  };
  const beginAhead = (): void => {
    for (; place.isSorted && place.ahead < foldersAhead && next < names.length; place.ahead++) begun.push(begin());
  };
  beginAhead();
  return {
    async *take(): AsyncGenerator<FoundFile[], void, undefined> {
      if (begun.length > 0) place.ahead--;
      const { files, first } = begun.shift() ?? begin();
      beginAhead();
      try {
        const { value, done } = await first;
        if (done) return;
        yield value;
        yield* files;
      } finally {
        await files.return();
      }
    },
    /** Ends the folders that were begun and that nobody will take. */
    close(): void {
      for (const { files } of begun.splice(0)) {
        place.ahead--;
        files.return().catch(() => {});
      }
    },
  };
}

async function* nothing(): AsyncGenerator<FoundFile[], void, undefined> {}

const recordOrder: NameOrder = {
  from: factDigits + letters.file.length,
  compare: (a, b) => compareNatural(a.slice(factDigits), b.slice(factDigits), letters.file.length),
};

/** The selected names of one folder, as records, a page at a time. */
async function* listLevel(
  { scheme, bucket, root, onPassedOver }: Walk,
  path: string,
  selection: Selection,
): AsyncGenerator<string[], void, undefined> {
  const prefix = root + path;
  const passOver = (name: string, kind: EntryKind): void => {
    const passed = passedOver(selection, { path: `${scheme}://${bucket}/${prefix}${name}`, name, kind });
    if (passed) onPassedOver(passed);
  };
  // A copy: names that are held must not hold on to the page they come from.
  const record = (size: number, version: string | undefined, letter: string, name: string) => {
    const facts = size.toString(36).padStart(sizeDigits, '0') + shortVersion(version);
    return Buffer.from(facts + letter + name).toString();
  };
  for await (const page of listPages({ scheme, bucket, prefix, delimiter: '/' })) {
    const records: string[] = [];
    for (const { key, sizeBytes, version } of page.objects) {
      const name = key.slice(prefix.length);
      // Programs that show folders keep an object of the folder's own name.
      if (name === '') continue;
      if (!name.includes('\0') && selection.takes(name)) records.push(record(sizeBytes, version, letters.file, name));
      else passOver(name, 'file');
    }
    for (const folder of page.folders) {
      const name = folder.slice(prefix.length, -1);
      const isStore = isStoreName(name);
      const isSelected = isStore ? selection.takes(name) : selection.enter(name, false);
      if (!name.includes('\0') && isSelected) {
        records.push(record(0, undefined, isStore ? letters.store : letters.folder, name));
      } else passOver(name, isStore ? 'file' : 'folder');
    }
    yield records;
  }
}

const shortVersion = (version: string | undefined): string =>
  (version ? hash('sha256', version, 'base64url').slice(0, versionDigits) : '').padEnd(versionDigits);

import { isUtf8 } from 'node:buffer';
import type { Dir, Dirent } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Turns } from '@halogrid/threads';
import { isBelow, whyForbidden } from '../access/allowed-path.ts';
import { type NativeCalls, nativeCalls } from '../files/native-calls.ts';
import { NativeFolder } from '../files/native-folder.ts';
import { type EntryKind, type PassedOver, passedOver, type Selection, selectionBelow } from '../globs/selection.ts';
import { isStoreName } from '../zarr/store-name.ts';
import type { FoundFile } from './found-file.ts';
import { jobIn } from './job-folder.ts';
import { circle, LookAhead, type LookedFolder, letters } from './look-ahead.ts';
import { compareNatural } from './natural-order.ts';
import { escapeBytes } from './raw-name.ts';
import { type NameOrder, sortNames } from './sort-names.ts';

/** A folder that is not walked, because it holds the output of a job. */
export interface LeftOut {
  path: string;
  jobId: string;
}

export interface WalkOptions {
  /**
   * Whether names come in natural order, folders among files; if not, as the file system has them, which is faster.
   * True by default.
   */
  isSorted?: boolean;
  /** Called for every folder that is left out; see walkFolder. */
  onLeftOut?: (leftOut: LeftOut) => void;
  /** Called for everything that is passed over in a folder; for globs, only if a filter leaves it out. */
  onPassedOver?: (passed: PassedOver) => void;
  /** The calls that list sorted folders; undefined: Node's calls. Unless given, the thread's `nativeCalls`. */
  calls?: NativeCalls | undefined;
  /** Files that the calling thread looks up before others help; 16,384 by default. */
  aloneFiles?: number;
}

/** Looking up so many files takes as long as starting threads. */
const aloneFilesUsually = 2 ** 14;
/** Entries that the file system is asked for at once. */
const readAtOnce = 512;

/**
 * The selected files in a folder and below, some at a time, in natural order and depth first, in memory that does not
 * grow with their number. Each folder is listed once, at its own place. The first symbolic link to a folder outside is
 * followed. A link to a folder that is listed anyway is not followed. A link to a folder that it lies in comes as a
 * file with an error, and so does a name that is not UTF-8. A folder below that holds the output of a job is left out.
 * Rejects if the folder itself is missing.
 */
export async function* walkFolder(
  folder: string,
  selection: Selection,
  options: WalkOptions = {},
): AsyncGenerator<FoundFile[], void, undefined> {
  const { isSorted = true, onLeftOut = () => {}, onPassedOver = () => {} } = options;
  const real = await realpath(folder);
  const calls = !isSorted ? undefined : 'calls' in options ? options.calls : nativeCalls();
  const turns = new Turns();
  const walk: Walk = {
    root: folder,
    isSorted,
    onLeftOut,
    onPassedOver,
    calls,
    lookAhead: new LookAhead(turns, options.aloneFiles ?? aloneFilesUsually),
    turns,
    walked: new Map([[real, selection]]),
  };
  try {
    yield* walkPlace(walk, { prefix: '', real, above: [], selection });
  } finally {
    await walk.lookAhead.close();
  }
}

interface Walk {
  root: string;
  isSorted: boolean;
  onLeftOut: (leftOut: LeftOut) => void;
  onPassedOver: (passed: PassedOver) => void;
  calls: NativeCalls | undefined;
  lookAhead: LookAhead;
  turns: Turns;
  /** Real paths of the root and of folders that links were followed to, with what is selected there. */
  walked: Map<string, Selection>;
}

/** A folder that is walked. */
interface Place {
  /** Relative to the root, with a '/' at its end; empty for the root. */
  prefix: string;
  /** Its real path. */
  real: string;
  /** Real paths of the folders whose links led here. */
  above: readonly string[];
  selection: Selection;
}

async function* walkPlace(walk: Walk, place: Place): AsyncGenerator<FoundFile[], void, undefined> {
  const { lookAhead, isSorted, calls } = walk;
  const { prefix, real } = place;
  const path = join(walk.root, prefix);
  const native = NativeFolder.open(path, calls);
  const names = native ? readNatively(native, walk, place) : readNames(walk, place);
  const folder: LookedFolder = { path, prefix, real, native, passOver: (name) => passOver(walk, place, name, 'file') };
  try {
    const entries = isSorted ? lookAhead.ahead(folder, sortNames(names, recordOrder)) : lookAhead.each(folder, names);
    for await (const found of entries) {
      let files: FoundFile[] = [];
      for (const looked of found) {
        if (looked.kind === 'file') files.push(looked.file);
        if (looked.kind === 'file' || looked.kind === 'nothing') continue;
        if (files.length > 0) yield files;
        files = [];
        yield* looked.kind === 'folder'
          ? walkReal(walk, place, looked.name)
          : walkLink(walk, place, looked.name, looked.real);
      }
      if (files.length > 0) yield files;
    }
  } catch (error) {
    const { syscall, code } = error as NodeJS.ErrnoException;
    const isOfFolder = (syscall === 'opendir' || syscall === 'scandir') && !ofThisProcess.has(code ?? '');
    if (!isOfFolder) throw error;
    yield [{ name: place.prefix.slice(0, -1) || '.', sizeBytes: 0, error: `The folder cannot be listed (${code})` }];
  } finally {
    native?.close();
  }
}

/** Errors that are not a folder's fault: too many open files, no memory. */
const ofThisProcess = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

const recordOrder: NameOrder = { from: 1, compare: (a, b) => compareNatural(a, b, 1), onThread: true };

async function* readNames(walk: Walk, place: Place): AsyncGenerator<string[], void, undefined> {
  const { root, turns } = walk;
  let areUnsure = false;
  let records: string[] = [];
  for await (const entry of await opendir(join(root, place.prefix), { bufferSize: readAtOnce })) {
    if (turns.isOver) await turns.giveWay();
    // U+FFFD stands for bytes that are not UTF-8, too.
    if (entry.name.includes('\ufffd')) areUnsure = true;
    else {
      const letter = letterOf(walk, place, entry.name, kindOf(entry));
      if (letter) records.push(letter + entry.name);
    }
    if (records.length < readAtOnce) continue;
    yield records;
    records = [];
  }
  yield records;
  if (areUnsure) yield* readUnsure(walk, place);
}

async function* readNatively(
  folder: NativeFolder,
  walk: Walk,
  place: Place,
): AsyncGenerator<string[], void, undefined> {
  let areUnsure = false;
  for (const entries of folder.entries()) {
    const records: string[] = [];
    for (const { name, kind } of entries) {
      if (name.includes('\ufffd')) areUnsure = true;
      else {
        const letter = letterOf(walk, place, name, kind);
        if (letter) records.push(letter + name);
      }
    }
    yield records;
    if (walk.turns.isOver) await walk.turns.giveWay();
  }
  if (areUnsure) yield* readUnsure(walk, place);
}

/** Reads names with U+FFFD again: some have it, in others Node has put it. */
async function* readUnsure(walk: Walk, place: Place): AsyncGenerator<string[], void, undefined> {
  const folder = join(walk.root, place.prefix, '/');
  const options = { bufferSize: readAtOnce, encoding: 'buffer' as BufferEncoding };
  for await (const entry of (await opendir(folder, options)) as Dir & AsyncIterable<Dirent<Buffer>>) {
    const bytes = entry.name;
    const name = bytes.toString();
    if (!name.includes('\ufffd')) continue;
    const letter = letterOf(walk, place, name, kindOf(entry));
    if (!letter) continue;
    if (isUtf8(bytes)) yield [letter + name];
    else if (letter !== letters.otherLink || (await isFolder(Buffer.concat([Buffer.from(folder), bytes])))) {
      yield [letters.notUtf8 + escapeBytes(bytes)];
    } else passOver(walk, place, name, 'file');
  }
}

const isFolder = (path: Buffer): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );

const kindOf = (entry: Dirent<string> | Dirent<Buffer>): EntryKind =>
  entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : 'other';

/** The letter of an entry; undefined for an entry that is not selected, which it reports. */
function letterOf(walk: Walk, place: Place, name: string, kind: EntryKind): string | undefined {
  const { selection } = place;
  const isStore = kind === 'folder' && isStoreName(name);
  if (isStore) {
    if (selection.takes(name)) return letters.store;
  } else if (kind === 'folder') {
    if (selection.enter(name, false)) return letters.folder;
  } else if (selection.takes(name)) return kind === 'file' ? letters.file : letters.linkOfFileName;
  // A link, or an entry whose kind the file system does not tell.
  else if (kind === 'other' && selection.enter(name, true)) return letters.otherLink;
  passOver(walk, place, name, isStore ? 'file' : kind);
  return undefined;
}

function passOver({ root, onPassedOver }: Walk, { prefix, selection }: Place, name: string, kind: EntryKind): void {
  const passed = passedOver(selection, { path: join(root, prefix, name), name, kind });
  if (passed) onPassedOver(passed);
}

async function* walkReal(walk: Walk, place: Place, name: string): AsyncGenerator<FoundFile[], void, undefined> {
  const real = join(place.real, name);
  const selection = place.selection.enter(name, false);
  // A folder that a link led to earlier was walked there.
  if (!selection || (selection.walksAll && walk.walked.has(real)) || (await isLeftOut(walk, place, name))) return;
  yield* walkPlace(walk, { ...place, prefix: `${place.prefix}${name}/`, real, selection });
}

async function* walkLink(
  walk: Walk,
  place: Place,
  name: string,
  real: string,
): AsyncGenerator<FoundFile[], void, undefined> {
  const selection = place.selection.enter(name, true);
  if (!selection) return;
  const error = await whyForbidden(real);
  if (error) return yield [{ name: place.prefix + name, sizeBytes: 0, error }];
  const above = [...place.above, place.real];
  if (above.some((folder) => isBelow(folder, real))) {
    yield [{ name: place.prefix + name, sizeBytes: 0, error: `${circle}: it leads to a folder that it lies in` }];
  } else if ((!selection.walksAll || !isListed(walk.walked, real)) && !(await isLeftOut(walk, place, name))) {
    walk.walked.set(real, selection);
    yield* walkPlace(walk, { prefix: `${place.prefix}${name}/`, real, above, selection });
  }
}

/** Whether the folder of that name is left out, which it then reports. */
async function isLeftOut({ root, onLeftOut }: Walk, { prefix }: Place, name: string): Promise<boolean> {
  const path = join(root, prefix, name);
  const jobId = await jobIn(path);
  if (jobId === undefined) return false;
  onLeftOut({ path, jobId });
  return true;
}

/** Whether walking these folders reaches the path without following a link. */
function isListed(walked: ReadonlyMap<string, Selection>, path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    const selection = walked.get(at);
    if (selection) return selectionBelow(selection, at === path ? [] : relative(at, path).split('/')) !== undefined;
    if (at === dirname(at)) return false;
  }
}

import { isUtf8 } from 'node:buffer';
import type { Dir, Dirent } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Turns } from '@halogrid/threads';
import { allowedPath, isBelow } from '../access/allowed-path.ts';
import { localVersion } from '../files/local-file.ts';
import { LookThreads } from '../files/look-threads.ts';
import { type NativeCalls, nativeCalls } from '../files/native-calls.ts';
import { NativeFolder } from '../files/native-folder.ts';
import { quickFiles } from '../files/quick-files.ts';
import { type EntryKind, type PassedOver, passedOver, type Selection, selectionBelow } from '../globs/selection.ts';
import { isStoreName } from '../zarr/store-name.ts';
import { jobIn } from './job-folder.ts';
import { compareNatural } from './natural-order.ts';
import { escapeBytes, notUtf8 } from './raw-name.ts';
import { type NameOrder, sortNames } from './sort-names.ts';

export interface FoundFile {
  /** Path relative to the folder, separated by '/'. */
  name: string;
  /** 0 if it is not known. */
  sizeBytes: number;
  /** See Source. */
  version?: string;
  /**
   * Why it is not an input, in one sentence: a folder that cannot be listed, or a symbolic link that leads in a circle.
   */
  error?: string;
  /** Only if the name does not tell it. */
  uri?: string;
  /** Set for a folder that is a Zarr, which is not walked. */
  isStore?: true;
}

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
/** Files that a thread looks up at once, and the most batches of them under way. */
const lookedUpOnThread = 256;
const batchesOnThreads = 8;

/** Files that are looked up at once without threads. */
const lookedUpAtOnce = 64;
/**
 * Looking up `partFiles` files takes longer than `slowPartMs` if a disk or a server is waited for. If few parts are
 * slow, another program had the core.
 */
const partFiles = 8;
const slowPartMs = 1.6;
const mostSlowParts = 2;
/** If many parts are slow, so many files are looked up aside: by `quickFiles`, side by side. */
const lookedUpAside = 512;
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
  const walk: Walk = {
    root: folder,
    isSorted,
    onLeftOut,
    onPassedOver,
    calls,
    aside: 0,
    alone: options.aloneFiles ?? aloneFilesUsually,
    threads: undefined,
    turns: new Turns(),
    walked: new Map([[real, selection]]),
  };
  try {
    yield* walkPlace(walk, { prefix: '', real, above: [], selection });
  } finally {
    await walk.threads?.close();
  }
}

interface Walk {
  root: string;
  isSorted: boolean;
  onLeftOut: (leftOut: LeftOut) => void;
  onPassedOver: (passed: PassedOver) => void;
  calls: NativeCalls | undefined;
  /** Files that are yet to be looked up aside. */
  aside: number;
  /** Files that this thread looks up before threads are started. */
  alone: number;
  threads: LookThreads | undefined;
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

/** What is at a name, found out ahead of its turn. */
type Looked =
  | { kind: 'file'; file: FoundFile }
  | { kind: 'folder'; name: string }
  | { kind: 'link'; name: string; real: string }
  | { kind: 'nothing' };

/** First letters of the records that are sorted: what an entry is, so that the system is not asked again. */
const letters = {
  file: 'f',
  folder: 'd',
  store: 's',
  linkOfFileName: 'l',
  otherLink: 'o',
  notUtf8: 'n',
} as const;

async function* walkPlace(walk: Walk, place: Place): AsyncGenerator<FoundFile[], void, undefined> {
  const folder = NativeFolder.open(join(walk.root, place.prefix), walk.calls);
  const names = folder ? readNatively(folder, walk, place) : readNames(walk, place);
  const lookAt = (records: readonly string[]) => lookAtAll(walk, place, folder, records);
  try {
    const entries = walk.isSorted ? lookAhead(walk, sortNames(names, recordOrder), lookAt) : lookEach(names, lookAt);
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
    folder?.close();
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

type LookAt = (records: readonly string[]) => Promise<Looked[]>;

async function* lookEach(
  chunks: AsyncIterable<readonly string[]>,
  lookAt: LookAt,
): AsyncGenerator<Looked[], void, undefined> {
  for await (const chunk of chunks) for (const record of chunk) yield await lookAt([record]);
}

/**
 * Looks every record up, in order; while some are handed out, the next are being looked up. Never rejects, as `lookAt`
 * does not.
 */
async function* lookAhead(
  walk: Walk,
  chunks: AsyncIterable<readonly string[]>,
  lookAt: LookAt,
): AsyncGenerator<Looked[], void, undefined> {
  const underWay: Promise<Looked[]>[] = [];
  for await (const chunk of chunks) {
    for (let i = 0; i < chunk.length; ) {
      const end = i + (walk.threads ? lookedUpOnThread : lookedUpAtOnce);
      underWay.push(lookAt(chunk.slice(i, end)));
      i = end;
      if (underWay.length > (walk.threads ? batchesOnThreads : 1)) yield await underWay.shift()!;
    }
  }
  for (const looked of underWay) yield await looked;
}

/** Looks files of this folder up by system calls while these are quick, and all other entries one by one. */
async function lookAtAll(
  walk: Walk,
  place: Place,
  folder: NativeFolder | undefined,
  records: readonly string[],
): Promise<Looked[]> {
  if (!folder || walk.aside > 0) {
    walk.aside -= records.length;
    return await Promise.all(records.map((record) => look(walk, place, record)));
  }
  walk.alone -= records.length;
  if (walk.alone <= 0) walk.threads ??= new LookThreads();
  if (walk.threads) return await lookOnThreads(walk, place, folder, records);
  const found: Looked[] = [];
  let partMs = performance.now();
  let slowParts = 0;
  for (const record of records) {
    const name = record.slice(1);
    const facts = record[0] === letters.file ? folder.factsOf(name) : undefined;
    found.push(
      facts ? { kind: 'file', file: { name: place.prefix + name, ...facts } } : await look(walk, place, record),
    );
    if (found.length % partFiles > 0) continue;
    const nowMs = performance.now();
    if (nowMs - partMs > slowPartMs) slowParts++;
    partMs = nowMs;
  }
  if (slowParts > mostSlowParts) walk.aside = lookedUpAside;
  if (walk.turns.isOver) await walk.turns.giveWay();
  return found;
}

/** As lookAtAll, on other threads, or on this one if those have ended. */
async function lookOnThreads(
  walk: Walk,
  place: Place,
  folder: NativeFolder,
  records: readonly string[],
): Promise<Looked[]> {
  const names = records.map((record) => record.slice(1));
  const facts = await walk.threads!.factsOf(folder, names).catch(() => []);
  const found = records.map((record, i): Looked | Promise<Looked> => {
    const known = record[0] === letters.file ? facts[i] : undefined;
    return known ? { kind: 'file', file: { name: place.prefix + names[i], ...known } } : look(walk, place, record);
  });
  return found.some((looked) => looked instanceof Promise) ? await Promise.all(found) : (found as Looked[]);
}

/** Looks one entry up. Never rejects. */
async function look(walk: Walk, place: Place, record: string): Promise<Looked> {
  const { root } = walk;
  const { prefix, real } = place;
  const letter = record[0];
  const name = record.slice(1);
  if (letter === letters.folder) return { kind: 'folder', name };
  if (letter === letters.store) return { kind: 'file', file: { name: prefix + name, sizeBytes: 0, isStore: true } };
  if (letter === letters.notUtf8) {
    const uri = pathToFileURL(join(root, prefix, '/')).href + name;
    return { kind: 'file', file: { name: prefix + name, sizeBytes: 0, error: notUtf8(name), uri } };
  }
  const path = join(root, prefix, name);
  const isFileName = letter !== letters.otherLink;
  const nothing = (): Looked => {
    passOver(walk, place, name, 'file');
    return { kind: 'nothing' };
  };
  try {
    const stats = await quickFiles.stat(path);
    if (stats.isDirectory() && isStoreName(name)) {
      if (!isFileName) return nothing();
      const error = await whyForbidden(path);
      return { kind: 'file', file: { name: prefix + name, sizeBytes: 0, ...(error ? { error } : { isStore: true }) } };
    }
    if (stats.isDirectory()) {
      const target = await realpath(path);
      // Some file systems do not tell what an entry is.
      return target === join(real, name) ? { kind: 'folder', name } : { kind: 'link', name, real: target };
    }
    if (!isFileName) return nothing();
    const error = letter === letters.file ? undefined : await whyForbidden(path);
    if (error) return { kind: 'file', file: { name: prefix + name, sizeBytes: 0, error } };
    return { kind: 'file', file: { name: prefix + name, sizeBytes: stats.size, version: localVersion(stats) } };
  } catch (error) {
    // If it is meant to be a file, opening it will say what is wrong.
    const isCircle = (error as NodeJS.ErrnoException).code === 'ELOOP';
    if (isCircle) return { kind: 'file', file: { name: prefix + name, sizeBytes: 0, error: circle } };
    return isFileName ? { kind: 'file', file: { name: prefix + name, sizeBytes: 0 } } : nothing();
  }
}

const circle = 'The symbolic link leads in a circle';

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

/** Why the target of a link may not be read; undefined if it may. */
const whyForbidden = (path: string): Promise<string | undefined> =>
  allowedPath(path).then(
    () => undefined,
    ({ message }: Error) => message,
  );

/** Whether walking these folders reaches the path without following a link. */
function isListed(walked: ReadonlyMap<string, Selection>, path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    const selection = walked.get(at);
    if (selection) return selectionBelow(selection, at === path ? [] : relative(at, path).split('/')) !== undefined;
    if (at === dirname(at)) return false;
  }
}

import { isUtf8 } from 'node:buffer';
import type { Dir, Dirent } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Turns } from '@halogrid/threads';
import { allowedPath, isBelow } from '../access/allowed-path.ts';
import { localVersion } from '../files/local-file.ts';
import { quickFiles } from '../files/quick-files.ts';
import { isHidden, type Selection } from '../globs/selection.ts';
import { jobIn } from './job-folder.ts';
import { compareNatural } from './natural-order.ts';
import { escapeBytes, notUtf8 } from './raw-name.ts';
import { sortNames } from './sort-names.ts';

export interface FoundFile {
  /** Path relative to the folder, separated by '/'. */
  name: string;
  /** 0 where it cannot be told. */
  sizeBytes: number;
  /** As of a Source. */
  version?: string;
  /** Why it is no input, in one sentence: a folder that cannot be listed, or a symbolic link that leads in a circle. */
  error?: string;
  /** Where the name does not say it. */
  uri?: string;
}

/** A folder that is not walked, because it holds the output of a job. */
export interface LeftOut {
  path: string;
  jobId: string;
}

export interface WalkOptions {
  /** In natural order, folders where their names are; else as the file system has them, which is faster (true). */
  isSorted?: boolean;
  /** Told of every folder that is left out; see walkFolder. */
  onLeftOut?: (leftOut: LeftOut) => void;
}

/** Looked up at once. */
const lookedUpAtOnce = 64;
/** Entries that the file system is asked for at once. */
const readAtOnce = 512;

/**
 * The files of a selection in a folder and below, in natural order and depth first, in memory that does not grow with
 * their number. Folders are listed once, where they are; a symbolic link to a folder outside is followed where it comes
 * first, one to a folder that is listed anyway is not, and one to a folder that it lies in is an error of its own. A folder
 * below that holds the output of a job is left out. A name that is not UTF-8 is an error of its own, too. Rejects where the
 * folder itself is not there.
 */
export async function* walkFolder(
  folder: string,
  selection: Selection,
  { isSorted = true, onLeftOut = () => {} }: WalkOptions = {},
): AsyncGenerator<FoundFile, void, undefined> {
  const real = await realpath(folder);
  const walk: Walk = { root: folder, isSorted, onLeftOut, turns: new Turns(), walked: new Set([real]) };
  yield* walkPlace(walk, { prefix: '', real, above: [], selection });
}

interface Walk {
  root: string;
  isSorted: boolean;
  onLeftOut: (leftOut: LeftOut) => void;
  turns: Turns;
  /** Real paths of the root and of folders that links were followed to. */
  walked: Set<string>;
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

/** First letters of the names that are sorted: what an entry is, so that nobody asks for it again. */
const letters = { file: 'f', folder: 'd', linkOfFileName: 'l', otherLink: 'o', notUtf8: 'n' } as const;

async function* walkPlace(walk: Walk, place: Place): AsyncGenerator<FoundFile, void, undefined> {
  const names = readNames(walk, place);
  const lookAt = (record: string) => look(walk, place, record);
  try {
    const entries = walk.isSorted ? lookAhead(sortNames(names, compareRecords), lookAt) : lookEach(names, lookAt);
    for await (const looked of entries) {
      if (looked.kind === 'file') yield looked.file;
      else if (looked.kind === 'folder') yield* walkReal(walk, place, looked.name);
      else if (looked.kind === 'link') yield* walkLink(walk, place, looked.name, looked.real);
    }
  } catch (error) {
    const { syscall, code } = error as NodeJS.ErrnoException;
    const isOfFolder = (syscall === 'opendir' || syscall === 'scandir') && !ofThisProcess.has(code ?? '');
    if (!isOfFolder) throw error;
    yield { name: place.prefix.slice(0, -1) || '.', sizeBytes: 0, error: `The folder cannot be listed (${code})` };
  }
}

/** Failures that say nothing of a folder: too many open files, no memory. */
const ofThisProcess = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

const compareRecords = (a: string, b: string): number => compareNatural(a, b, 1);

async function* readNames(walk: Walk, place: Place): AsyncGenerator<string, void, undefined> {
  const { root, turns } = walk;
  const { prefix, selection } = place;
  let areUnsure = false;
  for await (const entry of await opendir(join(root, prefix), { bufferSize: readAtOnce })) {
    if (turns.isOver) await turns.giveWay();
    // It stands for what is not UTF-8, too.
    if (entry.name.includes('\ufffd')) areUnsure = true;
    else {
      const letter = letterOf(entry, selection);
      if (letter) yield letter + entry.name;
    }
  }
  if (areUnsure) yield* readUnsure(walk, place);
}

/** The names in which Node puts U+FFFD, and those that have it. */
async function* readUnsure({ root }: Walk, { prefix, selection }: Place): AsyncGenerator<string, void, undefined> {
  const folder = join(root, prefix, '/');
  const options = { bufferSize: readAtOnce, encoding: 'buffer' as BufferEncoding };
  for await (const entry of (await opendir(folder, options)) as Dir & AsyncIterable<Dirent<Buffer>>) {
    const bytes = entry.name;
    const name = bytes.toString();
    if (!name.includes('\ufffd')) continue;
    const letter = letterOf(Object.assign(entry, { name }), selection);
    if (!letter) continue;
    if (isUtf8(bytes)) yield letter + name;
    else if (letter !== letters.otherLink || (await isFolder(Buffer.concat([Buffer.from(folder), bytes])))) {
      yield letters.notUtf8 + escapeBytes(bytes);
    }
  }
}

const isFolder = (path: Buffer): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );

/** Undefined for an entry that is not wanted. */
function letterOf(entry: Dirent<string>, selection: Selection): string | undefined {
  const { name } = entry;
  if (entry.isDirectory()) return selection.enter(name, false) && letters.folder;
  if (entry.isFile()) return selection.takes(name) ? letters.file : undefined;
  if (selection.takes(name)) return letters.linkOfFileName;
  // A link, or what the file system does not tell.
  return selection.enter(name, true) ? letters.otherLink : undefined;
}

async function* lookEach(
  records: AsyncIterable<string>,
  lookAt: (record: string) => Promise<Looked>,
): AsyncGenerator<Looked, void, undefined> {
  for await (const record of records) yield await lookAt(record);
}

/** Looks every record up, in order; while some are handed out, the next are being looked up. */
async function* lookAhead(
  chunks: AsyncIterable<readonly string[]>,
  lookAt: (record: string) => Promise<Looked>,
): AsyncGenerator<Looked, void, undefined> {
  let ahead: Promise<Looked[]> | undefined;
  for await (const chunk of chunks) {
    for (let i = 0; i < chunk.length; i += lookedUpAtOnce) {
      const next = Promise.all(chunk.slice(i, i + lookedUpAtOnce).map(lookAt));
      if (ahead) yield* await ahead;
      ahead = next;
    }
  }
  if (ahead) yield* await ahead;
}

/** Never rejects. */
async function look({ root }: Walk, { prefix, real }: Place, record: string): Promise<Looked> {
  const letter = record[0];
  const name = record.slice(1);
  if (letter === letters.folder) return { kind: 'folder', name };
  if (letter === letters.notUtf8) {
    const uri = pathToFileURL(join(root, prefix, '/')).href + name;
    return { kind: 'file', file: { name: prefix + name, sizeBytes: 0, error: notUtf8(name), uri } };
  }
  const path = join(root, prefix, name);
  const isFileName = letter !== letters.otherLink;
  try {
    const stats = await quickFiles.stat(path);
    if (stats.isDirectory()) {
      const target = await realpath(path);
      // Some file systems do not tell what an entry is.
      return target === join(real, name) ? { kind: 'folder', name } : { kind: 'link', name, real: target };
    }
    if (!isFileName) return { kind: 'nothing' };
    return { kind: 'file', file: { name: prefix + name, sizeBytes: stats.size, version: localVersion(stats) } };
  } catch (error) {
    // Opening it says what is wrong, where it is meant to be a file.
    const isCircle = (error as NodeJS.ErrnoException).code === 'ELOOP';
    if (isCircle) return { kind: 'file', file: { name: prefix + name, sizeBytes: 0, error: circle } };
    return isFileName ? { kind: 'file', file: { name: prefix + name, sizeBytes: 0 } } : { kind: 'nothing' };
  }
}

const circle = 'The symbolic link leads in a circle';

async function* walkReal(walk: Walk, place: Place, name: string): AsyncGenerator<FoundFile, void, undefined> {
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
): AsyncGenerator<FoundFile, void, undefined> {
  const selection = place.selection.enter(name, true);
  if (!selection) return;
  const error = await whyForbidden(real);
  if (error) return yield { name: place.prefix + name, sizeBytes: 0, error };
  const above = [...place.above, place.real];
  if (above.some((folder) => isBelow(folder, real))) {
    yield { name: place.prefix + name, sizeBytes: 0, error: `${circle}: it leads to a folder that it lies in` };
  } else if ((!selection.walksAll || !isListed(walk.walked, real)) && !(await isLeftOut(walk, place, name))) {
    walk.walked.add(real);
    yield* walkPlace(walk, { prefix: `${place.prefix}${name}/`, real, above, selection });
  }
}

/** Whether the folder of that name is not walked; says so. */
async function isLeftOut({ root, onLeftOut }: Walk, { prefix }: Place, name: string): Promise<boolean> {
  const path = join(root, prefix, name);
  const jobId = await jobIn(path);
  if (jobId === undefined) return false;
  onLeftOut({ path, jobId });
  return true;
}

/** Why a folder that a link leads to may not be read. */
const whyForbidden = (real: string): Promise<string | undefined> =>
  allowedPath(real).then(
    () => undefined,
    ({ message }: Error) => message,
  );

/** Whether walking these folders comes to a path without a link, as it does unless a part of it is hidden. */
function isListed(walked: ReadonlySet<string>, path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (walked.has(at)) return true;
    if (at === dirname(at) || isHidden(basename(at))) return false;
  }
}

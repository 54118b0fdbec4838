import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Turns } from '@halogrid/threads';
import { whyForbidden } from '../access/allowed-path.ts';
import { localVersion } from '../files/local-file.ts';
import { LookThreads } from '../files/look-threads.ts';
import type { NativeFolder } from '../files/native-folder.ts';
import { quickFiles } from '../files/quick-files.ts';
import { isStoreName } from '../zarr/store-name.ts';
import type { FoundFile } from './found-file.ts';
import { notUtf8 } from './raw-name.ts';

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

/** First letters of the records that are looked up: what an entry is, so that the system is not asked again. */
export const letters = {
  file: 'f',
  folder: 'd',
  store: 's',
  linkOfFileName: 'l',
  otherLink: 'o',
  notUtf8: 'n',
} as const;

/** What is said of a link that leads in a circle. */
export const circle = 'The symbolic link leads in a circle';

/** A folder whose entries are looked up. */
export interface LookedFolder {
  path: string;
  /** Its path relative to the folder that is walked, with a '/' at its end; empty for that folder. */
  prefix: string;
  /** Its real path. */
  real: string;
  /** Absent if it is listed by Node's calls. */
  native: NativeFolder | undefined;
  /** Called for a name that turns out to be neither a folder nor meant to be a file. */
  passOver: (name: string) => void;
}

/** What is at a name, found out ahead of its turn. */
export type Looked =
  | { kind: 'file'; file: FoundFile }
  | { kind: 'folder'; name: string }
  | { kind: 'link'; name: string; real: string }
  | { kind: 'nothing' };

type Records = AsyncIterable<readonly string[]>;

/**
 * Looks the entries of folders up, each a record: a letter and a name. It is one for all folders of a walk, and notes
 * how fast they are.
 */
export class LookAhead {
  readonly #turns: Turns;
  /** Files that this thread looks up before threads are started. */
  #alone: number;
  /** Files that are yet to be looked up aside. */
  #aside = 0;
  #threads: LookThreads | undefined;

  constructor(turns: Turns, aloneFiles: number) {
    this.#turns = turns;
    this.#alone = aloneFiles;
  }

  /** Looks every record up when it is asked for. */
  async *each(folder: LookedFolder, chunks: Records): AsyncGenerator<Looked[], void, undefined> {
    for await (const chunk of chunks) for (const record of chunk) yield await this.#lookAtAll(folder, [record]);
  }

  /** Looks every record up, in order; while some are handed out, the next are being looked up. */
  async *ahead(folder: LookedFolder, chunks: Records): AsyncGenerator<Looked[], void, undefined> {
    const underWay: Promise<Looked[]>[] = [];
    for await (const chunk of chunks) {
      for (let i = 0; i < chunk.length; ) {
        const end = i + (this.#threads ? lookedUpOnThread : lookedUpAtOnce);
        underWay.push(this.#lookAtAll(folder, chunk.slice(i, end)));
        i = end;
        if (underWay.length > (this.#threads ? batchesOnThreads : 1)) yield await underWay.shift()!;
      }
    }
    for (const looked of underWay) yield await looked;
  }

  async close(): Promise<void> {
    await this.#threads?.close();
  }

  /**
   * Looks files of the folder up by system calls while these are quick, and all other entries one by one. Never
   * rejects.
   */
  async #lookAtAll(folder: LookedFolder, records: readonly string[]): Promise<Looked[]> {
    const { native, prefix } = folder;
    if (!native || this.#aside > 0) {
      this.#aside -= records.length;
      return await Promise.all(records.map((record) => look(folder, record)));
    }
    this.#alone -= records.length;
    if (this.#alone <= 0) this.#threads ??= new LookThreads();
    if (this.#threads) return await lookOnThreads(this.#threads, folder, native, records);
    const found: Looked[] = [];
    let partMs = performance.now();
    let slowParts = 0;
    for (const record of records) {
      const name = record.slice(1);
      const facts = record[0] === letters.file ? native.factsOf(name) : undefined;
      found.push(facts ? { kind: 'file', file: { name: prefix + name, ...facts } } : await look(folder, record));
      if (found.length % partFiles > 0) continue;
      const nowMs = performance.now();
      if (nowMs - partMs > slowPartMs) slowParts++;
      partMs = nowMs;
    }
    if (slowParts > mostSlowParts) this.#aside = lookedUpAside;
    if (this.#turns.isOver) await this.#turns.giveWay();
    return found;
  }
}

/** Looks files up on other threads, or on this one if those have ended, and all other entries one by one. */
async function lookOnThreads(
  threads: LookThreads,
  folder: LookedFolder,
  native: NativeFolder,
  records: readonly string[],
): Promise<Looked[]> {
  const names = records.map((record) => record.slice(1));
  const facts = await threads.factsOf(native, names).catch(() => []);
  const found = records.map((record, i): Looked | Promise<Looked> => {
    const known = record[0] === letters.file ? facts[i] : undefined;
    return known ? { kind: 'file', file: { name: folder.prefix + names[i], ...known } } : look(folder, record);
  });
  return found.some((looked) => looked instanceof Promise) ? await Promise.all(found) : (found as Looked[]);
}

/** Looks one entry up. Never rejects. */
async function look({ path: folder, prefix, real, passOver }: LookedFolder, record: string): Promise<Looked> {
  const letter = record[0];
  const name = record.slice(1);
  if (letter === letters.folder) return { kind: 'folder', name };
  if (letter === letters.store) return { kind: 'file', file: { name: prefix + name, sizeBytes: 0, isStore: true } };
  if (letter === letters.notUtf8) {
    const uri = pathToFileURL(join(folder, '/')).href + name;
    return { kind: 'file', file: { name: prefix + name, sizeBytes: 0, error: notUtf8(name), uri } };
  }
  const path = join(folder, name);
  const isFileName = letter !== letters.otherLink;
  const nothing = (): Looked => {
    passOver(name);
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

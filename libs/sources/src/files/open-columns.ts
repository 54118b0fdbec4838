import { allowedPath } from '../access/allowed-path.ts';
import { InputError } from '../input-error.ts';
import { DecodedImages } from '../parquets/decoded-images.ts';
import { chooseColumn, imageColumns } from '../parquets/image-column.ts';
import { ImageRows, unreadable } from '../parquets/image-rows.ts';
import { readFooter } from '../parquets/parquet-footer.ts';
import { remoteVersion } from '../remote/probe.ts';
import { isRemoteUri } from '../remote/remote-uri.ts';
import { isOfVersion } from '../stated-version.ts';
import { localVersion, refuseRead } from './local-file.ts';
import { pathOf } from './local-path.ts';
import { type OpenBytes, openBytes } from './open-bytes.ts';
import { quickFiles } from './quick-files.ts';

/** A column of images in a Parquet file that is open. */
export interface OpenColumn {
  readonly bytes: OpenBytes;
  readonly images: DecodedImages;
}

interface KeptColumn extends OpenColumn {
  /** When the version was seen last. */
  seenMs: number;
  users: number;
  isDropped: boolean;
}

/** Columns that stay open for further rows. */
const mostOpen = 2;
/** After this time without a use, all are closed. */
const idleMs = 5_000;
/** How often a file is opened again because it has changed. */
const mostTries = 3;
/** How long a server is not asked again for the version. */
const freshMs = 2_000;

/** By file and column; the one that was asked for longest ago comes first. */
const columns = new Map<string, Promise<KeptColumn>>();
let idle: NodeJS.Timeout | undefined;

/** Uses a column of a file in its current version, which stays open for the next use. Rejects with InputError. */
export async function useColumn<T>(file: string, name: string, use: (column: OpenColumn) => Promise<T>): Promise<T> {
  const key = `${name} ${file}`;
  const column = await take(key, file, name);
  try {
    return await use(column);
  } catch (error) {
    // What was read may be of another version.
    if (error instanceof InputError && error.stage === 'read') column.isDropped = true;
    throw error;
  } finally {
    column.users--;
    closeUnused(column);
    clearTimeout(idle);
    idle = setTimeout(dropAll, idleMs).unref();
  }
}

async function take(key: string, file: string, name: string): Promise<KeptColumn> {
  for (let tries = 1; ; tries++) {
    const opening = columns.get(key) ?? open(file, name);
    // The last one asked for comes last.
    columns.delete(key);
    columns.set(key, opening);
    while (columns.size > mostOpen) drop(columns.keys().next().value!);
    const forget = (): void => {
      if (columns.get(key) === opening) columns.delete(key);
    };
    opening.catch(forget);
    const column = await opening;
    column.users++;
    let isGood = false;
    try {
      // A file that is written to all the time is never the same, as its reader will find.
      isGood = tries === mostTries || (!column.isDropped && (await isStill(column, file)));
      if (isGood) return column;
    } finally {
      if (!isGood) {
        column.users--;
        column.isDropped = true;
        closeUnused(column);
        forget();
      }
    }
  }
}

async function isStill(column: KeptColumn, file: string): Promise<boolean> {
  const { version } = column.bytes;
  if (!isRemoteUri(file)) return (await versionNow(file)) === version;
  if (performance.now() - column.seenMs < freshMs) return true;
  if (version === undefined || !isOfVersion(await remoteVersion(file), version)) return false;
  column.seenMs = performance.now();
  return true;
}

/** The version that a local file has now. */
export async function versionNow(file: string): Promise<string> {
  const path = await allowedPath(pathOf(file));
  return localVersion(await Promise.try(() => quickFiles.stat(path)).catch(refuseRead));
}

async function open(file: string, name: string): Promise<KeptColumn> {
  const bytes = await openBytes(file);
  try {
    const footer = await readFooter(bytes);
    const column = chooseColumn(imageColumns(footer.metadata), name);
    if (!column) throw new InputError('read', `The Parquet file has no column '${name}' of images`);
    const images = new DecodedImages(new ImageRows(bytes, footer, column));
    return { bytes, images, seenMs: performance.now(), users: 0, isDropped: false };
  } catch (error) {
    await bytes.close();
    throw unreadable(error);
  }
}

function drop(key: string): void {
  const opening = columns.get(key);
  columns.delete(key);
  opening?.then((column) => {
    column.isDropped = true;
    closeUnused(column);
  }, ignore);
}

const ignore = (): void => {};

function closeUnused(column: KeptColumn): void {
  if (column.isDropped && column.users === 0) column.bytes.close().catch(ignore);
}

function dropAll(): void {
  for (const key of [...columns.keys()]) drop(key);
}

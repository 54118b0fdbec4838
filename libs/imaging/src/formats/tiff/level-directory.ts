import { InputError } from '@halogrid/sources';
import type { AskedLevel } from '../../planes/read-options.ts';
import { pixelMicrons } from './pixel-size.ts';
import { chooseLevel, type PyramidPage, pyramidLevels } from './pyramid-levels.ts';
import { tiffTags } from './tag-names.ts';
import { maxPages, pageKind, readTiffHeader } from './tiff-header.ts';
import type { TiffDirectory, TiffReader } from './tiff-reader.ts';

export interface ReadPage extends PyramidPage {
  directory: TiffDirectory;
}

/**
 * The directory of a level of the pyramid whose largest level is `main`. The others are in its SubIFDs, or are pages
 * after it; of a page that was asked for by its number (`isPage`), among pages up to the next one. Rejects with
 * InputError if the pyramid lacks the level.
 */
export async function levelDirectory(
  reader: TiffReader,
  main: TiffDirectory,
  asked: AskedLevel,
  isPage = false,
): Promise<TiffDirectory> {
  const first = await readPage(reader, main);
  const smaller: ReadPage[] = [];
  for (const start of await subDirectories(reader, main)) {
    const page = await pageAt(reader, start);
    if (page) smaller.push({ ...page, isReduced: true });
  }
  for await (const page of pagesAfter(reader, main)) {
    if (isPage && !page.isReduced && !page.isMask) break;
    smaller.push(page);
  }
  const levels = pyramidLevels(first, smaller);
  const chosen = chooseLevel(levels, asked, await pixelMicrons(reader, main));
  if (typeof chosen === 'string') throw new InputError('decode', chosen);
  return levels[chosen]!.directory;
}

/** The pages in the list after a page, at most 64 of them, without damaged ones. */
export async function* pagesAfter(reader: TiffReader, { next }: TiffDirectory): AsyncGenerator<ReadPage> {
  let following = next;
  for (let pages = 0; following !== 0 && pages < maxPages; pages++) {
    const directory = await reader.readDirectory(following);
    const page = await soundPage(reader, directory);
    if (page) yield page;
    following = directory.next;
  }
}

async function subDirectories(reader: TiffReader, { entries }: TiffDirectory): Promise<number[]> {
  const entry = entries.get(tiffTags.SubIFDs);
  return entry ? await reader.integers(entry, maxPages) : [];
}

export async function readPage(reader: TiffReader, directory: TiffDirectory): Promise<ReadPage> {
  const { width, height, block, storage } = await readTiffHeader(reader, directory);
  return { directory, width, height, isTile: block.isTile, storage, ...(await pageKind(reader, directory)) };
}

/** Undefined for a damaged page, which is not a level. */
async function soundPage(reader: TiffReader, directory: TiffDirectory): Promise<ReadPage | undefined> {
  try {
    return await readPage(reader, directory);
  } catch (error) {
    return ifDamaged(error);
  }
}

async function pageAt(reader: TiffReader, start: number): Promise<ReadPage | undefined> {
  try {
    return await readPage(reader, await reader.readDirectory(start));
  } catch (error) {
    return ifDamaged(error);
  }
}

function ifDamaged(error: unknown): undefined {
  if (error instanceof InputError && error.fault === 'content') return;
  throw error;
}

import { InputError } from '@halogrid/sources';
import { pagesAfter, readPage } from './level-directory.ts';
import { hasOtherPictures, type PyramidPage } from './pyramid-levels.ts';
import { tiffTags } from './tag-names.ts';
import type { TiffDirectory, TiffReader } from './tiff-reader.ts';

/** The most bytes of a description in which ImageJ's number of images is looked for. */
const maxDescriptionBytes = 4096;

/** What is said of a file whose other pages hold pictures that were not read; and if they are no pages of a TIFF. */
const ofImageJ = 'only the first of several pages was read';
const ofPages = `${ofImageJ}; --page N reads another`;

/**
 * A sentence if the file holds pictures besides the page that is read and its levels; undefined if not. It reads no
 * further than the first of them. Damage of other pages does not count.
 */
export async function sayOtherPages(reader: TiffReader, main: TiffDirectory): Promise<string | undefined> {
  try {
    if (main.next === 0) return (await isImageJStack(reader, main)) ? ofImageJ : undefined;
    return (await hasOthers(reader, main)) ? ofPages : undefined;
  } catch (error) {
    if (error instanceof InputError && error.fault === 'content') return undefined;
    throw error;
  }
}

async function hasOthers(reader: TiffReader, main: TiffDirectory): Promise<boolean> {
  const { entries } = main;
  const first = await readPage(reader, main);
  const isPyramid = entries.has(tiffTags.SubIFDs);
  const others: PyramidPage[] = [];
  for await (const page of pagesAfter(reader, main)) {
    if (hasOtherPictures(first, [page], true)) return true;
    others.push(page);
  }
  return hasOtherPictures(first, others, isPyramid);
}

/** ImageJ writes a stack of more than 4 GiB as one page, with the samples of all images one after another. */
async function isImageJStack(reader: TiffReader, { entries }: TiffDirectory): Promise<boolean> {
  const description = entries.get(tiffTags.ImageDescription);
  const text = description ? await reader.text(description, maxDescriptionBytes) : '';
  const [, images = '1'] = /^ImageJ=.*^images=(\d+)/ms.exec(text) ?? [];
  return Number(images) > 1;
}

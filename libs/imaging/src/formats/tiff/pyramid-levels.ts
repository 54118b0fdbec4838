import type { Size } from '@halogrid/geometry';
import type { AskedLevel } from '../../planes/read-options.ts';
import type { TiffStorage } from './tiff-layout.ts';

/** What tells whether a page is a level of a pyramid. */
export interface PyramidPage extends Size {
  isTile: boolean;
  /** Whether it says that it is smaller than another page, or is in the list of smaller images of another page. */
  isReduced: boolean;
  isMask: boolean;
  storage: Pick<TiffStorage, 'bitsPerSample' | 'sampleFormat' | 'samplesPerPixel'>;
}

/**
 * The levels of a pyramid, the largest first: the first page, and each later page that shows all of the image, is
 * smaller than the level before, and has the same samples. It has tiles if the first page has; in a file of strips it
 * must say that it is reduced. So labels, macro pictures, and thumbnails in strips are left out.
 */
export function pyramidLevels<Page extends PyramidPage>(first: Page, others: readonly Page[]): Page[] {
  const levels = [first];
  for (const page of others) if (isLevelBelow(page, levels.at(-1)!, first)) levels.push(page);
  return levels;
}

function isLevelBelow(page: PyramidPage, above: Size, first: PyramidPage): boolean {
  if (page.isMask || (first.isTile ? !page.isTile : !page.isReduced)) return false;
  const isSmaller = page.width <= above.width && page.height <= above.height;
  const isSame = page.width === above.width && page.height === above.height;
  return isSmaller && !isSame && hasSameSamples(page, first) && showsAllOf(first, page);
}

/** libvips states SampleFormat for each sample of its largest level, and once for all samples of smaller levels. */
function hasSameSamples({ storage: a }: PyramidPage, { storage: b }: PyramidPage): boolean {
  const text = ({ bitsPerSample, sampleFormat, samplesPerPixel }: PyramidPage['storage']): string =>
    `${[...new Set(bitsPerSample)]} ${[...new Set(sampleFormat)]} ${samplesPerPixel}`;
  return text(a) === text(b);
}

/** Whether both sides of `part`, each rounded up or down, are the sides of `whole` by one factor. */
function showsAllOf(whole: Size, part: Size): boolean {
  const least = Math.max(whole.width / (part.width + 1), whole.height / (part.height + 1));
  const most = Math.min(
    part.width > 1 ? whole.width / (part.width - 1) : Number.POSITIVE_INFINITY,
    part.height > 1 ? whole.height / (part.height - 1) : Number.POSITIVE_INFINITY,
  );
  return least < most;
}

/** A pixel of a scanner is seldom round (0.2525 micrometres), so a level may be coarser by this part than asked. */
const allowance = 0.05;

/**
 * The number of the level that is asked for: the coarsest level that is not coarser than asked. A sentence if the file
 * lacks it. `microns`: the size of a pixel of level 0, if the file states it.
 */
export function chooseLevel(
  levels: readonly Size[],
  asked: AskedLevel,
  microns: number | undefined,
  format = 'TIFF',
): number | string {
  if ('number' in asked) {
    const there = levels.length === 1 ? `only level ${sayLevels(levels)}` : `the levels ${sayLevels(levels)}`;
    return asked.number < levels.length
      ? asked.number
      : `The ${format} has ${there} but the job asks for ${asked.number}`;
  }
  if (microns === undefined) {
    return `The ${format} does not state the size of a pixel, so its level must be named by number: ${sayLevels(levels)}`;
  }
  const most = asked.microns * (1 + allowance);
  const found = levels.findLastIndex(({ width }) => (microns * levels[0]!.width) / width <= most);
  if (found >= 0) return found;
  return `A pixel of the ${format} is ${Number(microns.toPrecision(4))} micrometres wide but the job asks for at most ${asked.microns}`;
}

const sayLevels = (levels: readonly Size[]): string =>
  levels.map(({ width, height }, i) => `${i} (${width}x${height})`).join(', ');

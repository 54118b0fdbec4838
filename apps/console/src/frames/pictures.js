import { readPicture } from '../api/read-api.js';
import { element } from '../elements.js';
import { placeRegion } from './place-region.js';

/** @import { Region } from './region.js' */

/** Loads pictures shortly before they scroll into view. */
const observer = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      loaders.get(target)?.();
    }
  },
  { rootMargin: '200px' },
);

/** @type {WeakMap<Element, () => void>} */
const loaders = new WeakMap();

/**
 * A picture of the coordinator, which is loaded shortly before it scrolls into view. If it cannot be loaded, the reason
 * is in its place.
 *
 * @param {string} path as IndexedFrame.picture, with or without a query; empty without a picture
 * @param {number} side pixels at most
 * @param {string} alt
 * @param {Region} [marked] the part to mark, in shares of the whole
 */
export function lazyPicture(path, side, alt, marked) {
  const place = element('span', { class: 'picture' });
  loaders.set(place, async () => {
    try {
      if (path === '') throw new Error('No picture: the address of its source is too long');
      const { image } = await loadPicture(`${path}${path.includes('?') ? '&' : '?'}side=${side}`, alt);
      const mark = element('span', { class: 'region' });
      if (marked) placeRegion(mark, marked, { width: 1, height: 1 });
      place.replaceChildren(element('span', { class: 'shown' }, image, ...(marked ? [mark] : [])));
    } catch (error) {
      place.replaceChildren(element('span', { class: 'sentence' }, /** @type {Error} */ (error).message));
    }
  });
  observer.observe(place);
  return place;
}

/**
 * Resolves with a picture of the coordinator, and the size of what it shows. Rejects with one sentence.
 *
 * @param {string} path
 * @param {string} alt
 */
export async function loadPicture(path, alt) {
  const reading = underWay.get(path) ?? readPicture(path).finally(() => underWay.delete(path));
  underWay.set(path, reading);
  const { picture, width, height } = await reading;
  return { image: await imageOf(picture, alt), width, height };
}

/**
 * Pictures that are being read: several cells of one frame ask for the same. Later, the cache of the browser has them.
 *
 * @type {Map<string, ReturnType<typeof readPicture>>}
 */
const underWay = new Map();

/**
 * Decodes the picture in a file. Rejects if the browser does not know its format.
 *
 * @param {Blob} file
 * @param {string} alt
 */
export async function imageOf(file, alt) {
  const image = element('img', { alt });
  image.src = URL.createObjectURL(file);
  await image.decode().finally(() => URL.revokeObjectURL(image.src));
  return image;
}

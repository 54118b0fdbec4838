import { element, fieldById } from '../elements.js';
import { placeRegion } from './place-region.js';
import { isInPicture, regionBetween, regionText } from './region.js';

/** @import { Region } from './region.js' */

const fields = ['region-x', 'region-y', 'region-width', 'region-height'].map(fieldById);

/** Has people draw a region of a picture, or type where it is. The four fields hold it, and are empty where all is meant. */
export class RegionPicker {
  /** @type {{ width: number, height: number } | undefined} */
  #size;
  #frame = element('div', { class: 'region', hidden: '' });
  #place;

  /** @param {HTMLElement} place where the picture is shown */
  constructor(place) {
    this.#place = place;
    place.addEventListener('pointerdown', (event) => this.#drag(event));
    for (const field of fields) field.addEventListener('input', () => this.#show());
  }

  /**
   * Shows a picture, of which all is meant.
   *
   * @param {HTMLImageElement} image
   * @param {{ width: number, height: number }} [size] of what it shows; its own unless given
   */
  open(image, size) {
    this.#place.replaceChildren(image, this.#frame);
    this.#size = size ?? storedSize(image);
    this.clear();
  }

  /** Shows a sentence: the size of the picture is not known here. @param {string} sentence */
  openUnseen(sentence) {
    this.#size = undefined;
    this.#place.replaceChildren(element('p', { class: 'sentence' }, sentence));
    this.clear();
  }

  clear() {
    for (const field of fields) field.value = '';
    this.#show();
  }

  /** As the API takes it; empty: all. Throws one sentence for what is no region of the picture. */
  get text() {
    if (fields.every(({ value }) => value === '')) return '';
    const region = this.#region();
    const size = this.#size ?? { width: Number.POSITIVE_INFINITY, height: Number.POSITIVE_INFINITY };
    if (!region || !isInPicture(region, size)) {
      const within = this.#size ? ` inside the ${this.#size.width} x ${this.#size.height} pixels of the image` : '';
      throw new Error(`Expected X, Y, width and height of a region${within}`);
    }
    return regionText(region);
  }

  /** @returns {Region | undefined} */
  #region() {
    if (fields.some(({ value }) => value === '')) return undefined;
    const [x, y, width, height] = /** @type {[number, number, number, number]} */ (
      fields.map(({ value }) => Number(value))
    );
    return { x, y, width, height };
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    const size = this.#size;
    if (!size || event.button !== 0) return;
    event.preventDefault();
    const from = this.#shareAt(event);
    this.#place.setPointerCapture(event.pointerId);
    /** @param {PointerEvent} now */
    const move = (now) => {
      const { x, y, width, height } = regionBetween(from, this.#shareAt(now), size);
      [x, y, width, height].forEach((value, i) => {
        /** @type {HTMLInputElement} */ (fields[i]).value = String(value);
      });
      this.#show();
    };
    this.#place.addEventListener('pointermove', move);
    const end = () => this.#place.removeEventListener('pointermove', move);
    this.#place.addEventListener('pointerup', end, { once: true });
    this.#place.addEventListener('pointercancel', end, { once: true });
  }

  /** @param {PointerEvent} event */
  #shareAt({ clientX, clientY }) {
    const { left, top, width, height } = this.#place.getBoundingClientRect();
    return { x: (clientX - left) / width, y: (clientY - top) / height };
  }

  #show() {
    const region = this.#region();
    const size = this.#size;
    const isShown = region !== undefined && size !== undefined && isInPicture(region, size);
    this.#frame.hidden = !isShown;
    if (!isShown) return;
    placeRegion(this.#frame, region, size);
  }
}

/**
 * The size of a picture on the page as it is stored and shown: a browser tells the one that Exif would have it turned to.
 *
 * @param {HTMLImageElement} image
 */
function storedSize(image) {
  const { naturalWidth, naturalHeight } = image;
  const shown = image.getBoundingClientRect();
  const isTurned = shown.width > shown.height !== naturalWidth > naturalHeight;
  return isTurned ? { width: naturalHeight, height: naturalWidth } : { width: naturalWidth, height: naturalHeight };
}

import { element, fieldById } from '../elements.js';
import { placeRegion } from './place-region.js';
import { isInPicture, regionBetween, regionText } from './region.js';

/** @import { Region } from './region.js' */

const fields = ['region-x', 'region-y', 'region-width', 'region-height'].map(fieldById);

/**
 * Lets the user draw a region of a picture, or type it. The four fields hold the region; empty fields mean the whole
 * picture.
 */
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
   * Shows a picture, with the whole of it chosen.
   *
   * @param {HTMLImageElement} image
   * @param {{ width: number, height: number }} [size] of what the picture shows (default: its own)
   */
  open(image, size) {
    this.#place.replaceChildren(image, this.#frame);
    this.#size = size ?? storedSize(image);
    this.clear();
  }

  /** Shows a sentence instead of a picture, whose size is then not known. @param {string} sentence */
  openUnseen(sentence) {
    this.#size = undefined;
    this.#place.replaceChildren(element('p', { class: 'sentence' }, sentence));
    this.clear();
  }

  clear() {
    for (const field of fields) field.value = '';
    this.#show();
  }

  /**
   * The region for the API; empty: the whole picture. Throws one sentence if the fields hold no region of the picture.
   */
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
 * The size of a picture as it is stored and shown. Browsers report the size after the rotation that Exif asks for.
 *
 * @param {HTMLImageElement} image
 */
function storedSize(image) {
  const { naturalWidth, naturalHeight } = image;
  const shown = image.getBoundingClientRect();
  const isTurned = shown.width > shown.height !== naturalWidth > naturalHeight;
  return isTurned ? { width: naturalHeight, height: naturalWidth } : { width: naturalWidth, height: naturalHeight };
}

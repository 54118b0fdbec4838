import { bearer } from '../api/read-api.js';
import { element } from '../elements.js';

/**
 * @import OpenSeadragon from 'openseadragon'
 * @import { Region } from '../frames/region.js'
 */

const { OpenSeadragon: createViewer } = /** @type {{ OpenSeadragon: typeof OpenSeadragon }} */ (
  /** @type {unknown} */ (globalThis)
);
const { Point, Rect } = createViewer;

// The library adds an inline style sheet unless it finds its own, and the content security policy of our pages would
// refuse that with an error in the log. It finds this element, which is not a style sheet because of its namespace.
// viewer.css has the rules of that sheet.
const marker = document.createElementNS('urn:halogrid:none', 'style');
marker.setAttribute('data-openseadragon-mobile-css', '');
document.head.append(marker);

/** A pixel of a picture is at most this large, in pixels of the screen. */
const mostPixelsPerPixel = 24;

/** A picture to zoom and move, or a sentence in its place. */
export class ZoomSide {
  #place;
  #label;
  /** @type {OpenSeadragon.Viewer | undefined} */
  #viewer;
  #brightness = 1;
  #moved;
  #shown;

  /**
   * `moved` is called when the user moves or zooms the picture, `shown` when a picture has loaded.
   *
   * @param {HTMLElement} place
   * @param {string} label
   * @param {(side: ZoomSide) => void} moved
   * @param {(side: ZoomSide) => void} shown
   */
  constructor(place, label, moved, shown) {
    this.#place = place;
    this.#label = label;
    this.#moved = moved;
    this.#shown = shown;
  }

  /** The part that is shown; undefined without a picture. */
  get viewport() {
    return this.#viewer?.world.getItemCount() ? this.#viewer.viewport : undefined;
  }

  /**
   * Shows layers, from the lowest to the highest, each over the whole picture, which is `width` pixels wide.
   *
   * @param {readonly object[]} layers
   * @param {number} width
   */
  show(layers, width) {
    const viewer = this.#open();
    viewer.world.removeAll();
    // Both sides have the same limit, independent of their layers.
    const maxZoomLevel = Math.max(4, (mostPixelsPerPixel * width) / (this.#place.clientWidth || 1));
    Object.assign(viewer.viewport, { maxZoomLevel });
    for (const tileSource of layers) {
      viewer.addTiledImage({ tileSource, x: 0, y: 0, width: 1, success: () => this.#added() });
    }
  }

  #added() {
    this.brighten(this.#brightness);
    this.#chooseLayers();
    this.#shown(this);
  }

  /**
   * Hides a layer without coarse levels while the view is coarser than the layer: otherwise all of its tiles would be
   * loaded at once.
   */
  #chooseLayers() {
    const viewer = this.#viewer;
    for (let i = 0; viewer && i < viewer.world.getItemCount(); i++) {
      const layer = viewer.world.getItemAt(i);
      const { minLevel, maxLevel } = layer.source;
      const ratio = layer.viewportToImageZoom(viewer.viewport.getZoom(false));
      layer.setOpacity(minLevel === 0 || ratio > 2 ** (minLevel - maxLevel - 1) ? 1 : 0);
    }
  }

  /**
   * Calls `tell` with the point under the pointer, in shares of the picture; with undefined when the pointer has left
   * it.
   *
   * @param {(at: { x: number, y: number } | undefined) => void} tell
   */
  onPoint(tell) {
    this.#place.addEventListener('pointermove', ({ clientX, clientY, pointerType }) => {
      // A finger only moves the picture.
      if (pointerType === 'touch' || !this.viewport) return;
      const { left, top } = this.#place.getBoundingClientRect();
      const { x, y } = this.viewport.pointFromPixel(new Point(clientX - left, clientY - top));
      const at = { x, y: y / this.#aspect };
      tell(x >= 0 && x < 1 && at.y >= 0 && at.y < 1 ? at : undefined);
    });
    this.#place.addEventListener('pointerleave', () => tell(undefined));
  }

  /** Marks a part of the picture, in shares of the whole; undefined: no part. @param {Region | undefined} part */
  mark(part) {
    this.#viewer?.clearOverlays();
    if (!part || !this.viewport) return;
    const [y, height] = [part.y * this.#aspect, part.height * this.#aspect];
    this.#viewer?.addOverlay(element('div', { class: 'cell' }), new Rect(part.x, y, part.width, height));
  }

  /** Height divided by width. */
  get #aspect() {
    return this.#viewer?.world.getItemAt(0)?.getBounds().height ?? 1;
  }

  /** Multiplies the brightness of the picture. @param {number} factor */
  brighten(factor) {
    this.#brightness = factor;
    // Only the picture becomes brighter; its surroundings stay dark.
    for (const canvas of this.#place.querySelectorAll('canvas')) {
      canvas.style.filter = factor === 1 ? '' : `brightness(${factor})`;
    }
  }

  /** @param {string} sentence the reason why the picture is missing */
  say(sentence) {
    this.#viewer?.destroy();
    this.#viewer = undefined;
    this.#place.classList.add('out');
    this.#place.replaceChildren(element('p', {}, sentence));
  }

  /** Moves and zooms to the part that the other side shows. @param {ZoomSide} other */
  follow(other) {
    const [mine, its] = [this.viewport, other.viewport];
    if (!mine || !its) return;
    mine.panTo(its.getCenter(false), true);
    mine.zoomTo(its.getZoom(false), undefined, true);
  }

  #open() {
    if (this.#viewer) return this.#viewer;
    this.#place.classList.remove('out');
    this.#place.replaceChildren();
    const token = bearer();
    const viewer = createViewer({
      element: this.#place,
      showNavigationControl: false,
      drawer: 'canvas',
      // Pixels stay sharp squares.
      imageSmoothingEnabled: false,
      visibilityRatio: 0.3,
      animationTime: 0.3,
      gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: true },
      loadTilesWithAjax: token !== '',
      ajaxHeaders: token ? { authorization: token } : {},
    });
    viewer.addHandler('pan', () => this.#moved(this));
    viewer.addHandler('zoom', () => {
      this.#chooseLayers();
      this.#moved(this);
    });
    const focused = this.#place.querySelector('[tabindex]');
    focused?.setAttribute('aria-label', `${this.#label}: arrow keys move, plus and minus zoom`);
    focused?.setAttribute('role', 'application');
    this.#viewer = viewer;
    return viewer;
  }
}

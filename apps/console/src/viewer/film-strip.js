import { readApi } from '../api/read-api.js';
import { button, byId, element, fill } from '../elements.js';
import { lazyPicture } from '../frames/pictures.js';
import { describeMoment } from '../words/frame-words.js';
import { stripFrames } from './strip-frames.js';

/** @import { FramesAnswer, JobFrame } from '@halogrid/proto' */

const picturePx = 192;
/** Characters below a picture, from the end of a name: names in an archive differ there. */
const mostCharacters = 11;

/** Small pictures of frames of a job; a click goes to the frame. */
export class FilmStrip {
  #path;
  #go;
  #isAround = false;
  #at = 0;
  #total = 0;
  /** The API query of the frames that are shown. */
  #query = '';

  /** @param {string} path of the job below the API @param {(index: number) => void} go */
  constructor(path, go) {
    this.#path = path;
    this.#go = go;
    this.#drawChoice();
  }

  /** Marks the frame that the viewer shows. @param {number} index @param {number} total */
  async show(index, total) {
    this.#at = index;
    this.#total = total;
    if (total > 1) await this.#draw();
  }

  async #draw() {
    const query = stripFrames(this.#total, this.#isAround ? this.#at : undefined);
    if (query !== this.#query) {
      this.#query = query;
      const frames = await this.#ask(query);
      // The user may have gone to another frame meanwhile.
      if (!frames || query !== this.#query) return;
      fill(
        'strip',
        frames.map((frame) => this.#item(frame)),
      );
    }
    for (const made of byId('strip').querySelectorAll('button')) {
      if (made.value === String(this.#at)) made.setAttribute('aria-current', 'true');
      else made.removeAttribute('aria-current');
    }
  }

  /**
   * Resolves with the frames. If they cannot be read, it shows why and resolves with undefined; the next call asks
   * again.
   *
   * @param {string} query
   */
  async #ask(query) {
    try {
      /** @type {FramesAnswer} */
      const { frames } = await readApi(`${this.#path}/frames?${query}`);
      return frames;
    } catch (error) {
      if (query !== this.#query) return undefined;
      this.#query = '';
      fill('strip', [element('li', { class: 'hint' }, /** @type {Error} */ (error).message)]);
      return undefined;
    }
  }

  /** @param {JobFrame} frame */
  #item(frame) {
    const { index, name } = frame;
    const words = describeMoment(frame);
    const made = button('', () => this.#go(index));
    made.value = String(index);
    made.setAttribute('aria-label', `Frame ${index + 1}, ${words}`);
    made.title = words;
    const path = name === '' ? '' : `/api/v1/${this.#path}/picture?index=${index}`;
    made.append(
      path ? lazyPicture(path, picturePx, '') : element('span', { class: 'picture hint' }, 'quarantined'),
      element('span', { class: 'words' }, words.length > mostCharacters ? `…${words.slice(-mostCharacters)}` : words),
    );
    return element('li', {}, made);
  }

  #drawChoice() {
    const choices = [false, true].map((isAround) => {
      const made = button(isAround ? 'near this frame' : 'whole job', () => {
        this.#isAround = isAround;
        for (const one of choices) one.setAttribute('aria-pressed', String(one === made));
        void this.#draw();
      });
      made.setAttribute('aria-pressed', String(isAround === this.#isAround));
      return made;
    });
    const attributes = { class: 'switch', role: 'group', 'aria-label': 'Which frames to show' };
    fill('spread', [element('span', attributes, ...choices)]);
  }
}

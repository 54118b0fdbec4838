import { readApi } from '../api/read-api.js';
import { button, byId, element, fill } from '../elements.js';
import { lazyPicture } from '../frames/pictures.js';
import { describeMoment } from '../words/frame-words.js';
import { stripFrames } from './strip-frames.js';

/** @import { FramesAnswer, JobFrame } from '@halogrid/proto' */

const picturePx = 192;
/** Below a picture; names of an archive differ at their end. */
const mostCharacters = 11;

/** Small pictures of frames of a job, of which each can be gone to. */
export class FilmStrip {
  #path;
  #go;
  #isAround = false;
  #at = 0;
  #total = 0;
  /** What is shown, as the query that asked for it. */
  #query = '';

  /** @param {string} path of the job below the API @param {(index: number) => void} go */
  constructor(path, go) {
    this.#path = path;
    this.#go = go;
    this.#drawChoice();
  }

  /** Another frame is looked at. @param {number} index @param {number} total */
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
      // Somebody may have gone on meanwhile.
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

  /** The frames; where they cannot be had now, it says so, and they are asked for anew the next time. @param {string} query */
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

import { byId, element } from '../elements.js';

/** @import { JobStatus } from '@halogrid/proto' */

/**
 * The choice of an owner whose jobs the first page shows. It is in the address, for bookmarks, and hidden while no job
 * has an owner.
 */
export class OwnerFilter {
  #select = /** @type {HTMLSelectElement} */ (byId('owner'));
  /** @type {Set<string>} */
  #known = new Set();

  constructor() {
    const chosen = new URLSearchParams(location.search).get('owner');
    if (chosen) {
      this.#add(chosen);
      this.#select.value = chosen;
    }
    this.#select.addEventListener('change', () => {
      const { value } = this.#select;
      history.replaceState(null, '', value ? `?${new URLSearchParams({ owner: value })}` : location.pathname);
    });
  }

  /** What a query for jobs ends with. */
  get query() {
    const { value } = this.#select;
    return value ? `&${new URLSearchParams({ owner: value })}` : '';
  }

  /** Offers the owners of these jobs. @param {readonly JobStatus[]} jobs */
  show(jobs) {
    for (const { owner } of jobs) if (owner && !this.#known.has(owner)) this.#add(owner);
  }

  /** @param {string} owner */
  #add(owner) {
    this.#known.add(owner);
    this.#select.append(element('option', { value: owner }, owner));
    byId('owners').removeAttribute('hidden');
  }
}

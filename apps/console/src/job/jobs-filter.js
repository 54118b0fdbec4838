import { byId, element } from '../elements.js';
import { hasText, stateOf } from '../words/cluster-view.js';

/** @import { JobStatus } from '@halogrid/proto' */

/** What narrows the list, by its name in the address. */
const names = /** @type {const} */ (['owner', 'state', 'text']);

/**
 * Which jobs the first page shows: by owner, state, and a text. It is in the address, for bookmarks. The owner is
 * hidden while no job has one.
 */
export class JobsFilter {
  #fields = new Map(names.map((name) => [name, /** @type {HTMLInputElement | HTMLSelectElement} */ (byId(name))]));
  /** @type {Set<string>} */
  #known = new Set();

  /** @param {() => void} changed */
  constructor(changed) {
    const asked = new URLSearchParams(location.search);
    const owner = asked.get('owner');
    if (owner) this.#add(owner);
    for (const [name, field] of this.#fields) {
      field.value = asked.get(name) ?? '';
      field.addEventListener('input', () => {
        const chosen = new URLSearchParams(
          names.flatMap((each) => (this.#value(each) ? [[each, this.#value(each)]] : [])),
        );
        history.replaceState(null, '', chosen.size > 0 ? `?${chosen}` : location.pathname);
        changed();
      });
    }
  }

  /** What a query for jobs ends with. */
  get query() {
    const owner = this.#value('owner');
    return owner && `&${new URLSearchParams({ owner })}`;
  }

  /** The same for jobs in the chosen state alone. */
  get queryOfState() {
    const state = this.#value('state');
    return this.query + (state && `&${new URLSearchParams({ state })}`);
  }

  /** The text that is looked for; empty if none. */
  get text() {
    return this.#value('text').trim();
  }

  get isSet() {
    return names.some((name) => this.#value(name) !== '');
  }

  /** @param {JobStatus} job */
  fits(job) {
    const state = this.#value('state');
    return (state === '' || stateOf(job) === state) && hasText(job, this.text);
  }

  /** Offers the owners of these jobs. @param {readonly JobStatus[]} jobs */
  show(jobs) {
    for (const { owner } of jobs) if (owner && !this.#known.has(owner)) this.#add(owner);
  }

  /** @param {typeof names[number]} name */
  #value(name) {
    return this.#fields.get(name)?.value ?? '';
  }

  /** @param {string} owner */
  #add(owner) {
    this.#known.add(owner);
    byId('owner').append(element('option', { value: owner }, owner));
    byId('owners').removeAttribute('hidden');
  }
}

import { readApi } from '../api/read-api.js';
import { button, byId, element, fill } from '../elements.js';
import { describeBytes, describeCount } from '../words/quantities.js';

/** @import { FolderAnswer, FolderEntry } from '@halogrid/proto' */

/** Browses the data roots, one folder at a time. */
export class FolderBrowser {
  #add;
  #path = '';
  #parent = '';

  /** @param {(path: string) => void} add called with each path that is picked */
  constructor(add) {
    this.#add = add;
    byId('all').addEventListener('click', () => this.#path && add(this.#path));
  }

  /** Opens a folder. Rejects with one sentence if it cannot be listed. @param {string} path empty: the start */
  async open(path) {
    /** @type {FolderAnswer} */
    const answer = await readApi(`folder?${new URLSearchParams({ path })}`);
    this.#path = answer.path;
    this.#parent = answer.parent;
    fill('folder', [answer.path || 'Data roots']);
    byId('up').toggleAttribute('disabled', answer.parent === '');
    byId('all').toggleAttribute('disabled', answer.path === '');
    const more =
      answer.leftOut > 0
        ? [`${describeCount(answer.leftOut)} more are not listed: add the folder, or type a glob.`]
        : [];
    const none = answer.entries.length === 0 ? ['This folder is empty.'] : [];
    fill('entries', [
      ...answer.entries.map((entry) => this.#item(entry)),
      ...[...more, ...none].map((words) => element('li', { class: 'hint' }, words)),
    ]);
  }

  get parent() {
    return this.#parent;
  }

  /** @param {FolderEntry} entry */
  #item({ name, path, isFolder, bytes }) {
    const open = button(`${name}/`, () => void this.open(path));
    open.className = 'plain';
    const add = button('Add', () => this.#add(path));
    add.className = 'small';
    add.setAttribute('aria-label', `Add ${name}`);
    return element(
      'li',
      {},
      isFolder ? open : element('span', { class: 'name', title: name }, name),
      element('span', { class: 'bytes' }, isFolder ? '' : describeBytes(bytes)),
      add,
    );
  }
}

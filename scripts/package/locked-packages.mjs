// Reads the packages of package-lock.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../install.mjs';
import { isForPlatform, usesDependency } from './platforms.mjs';

export const workspace = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;

/**
 * @typedef {object} LockedPackage
 * @property {string} place where it is in the checkout, such as `node_modules/sharp/node_modules/semver`
 * @property {string} name
 * @property {string} version
 * @property {string} [license]
 * @property {string} [integrity]
 */

/** The locked package in a place; undefined if the place is not a locked package. */
export function lockedAt(place) {
  const entry = locked[place];
  return entry && !entry.link ? { place, name: place.replace(/^.*node_modules\//, ''), ...entry } : undefined;
}

/**
 * These packages and all packages that they load on a platform, by place.
 *
 * @param {readonly string[]} names
 * @param {string} platform
 * @returns {LockedPackage[]}
 */
export function packagesFor(names, platform) {
  const found = new Map();
  const waiting = names.map((name) => lockedAt(`node_modules/${name}`));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (found.has(next.place)) continue;
    found.set(next.place, next);
    for (const name of Object.keys({ ...next.dependencies, ...next.optionalDependencies })) {
      const dependency = seenFrom(next.place, name);
      if (dependency && isForPlatform(dependency, platform) && usesDependency(next.name, name, platform))
        waiting.push(dependency);
    }
  }
  return [...found.values()].sort((a, b) => (a.place < b.place ? -1 : 1));
}

/** The package that a package in that place gets by a name: the nearest one, upwards. */
function seenFrom(place, name) {
  for (let folder = `${place}/`; ; folder = folder.replace(/node_modules\/(@[^/]+\/)?[^/]+\/$/, '')) {
    const found = lockedAt(`${folder}node_modules/${name}`);
    if (found || folder === '') return found;
  }
}

// Collects the licences of packages that are bundled, and so no longer have their own folders.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../install.mjs';
import { lockedAt } from './locked-packages.mjs';

const isLicence = /^(licen[cs]e|copying|notice)(\.|-|$)/i;

/**
 * Writes the licence texts of the packages in these places, each after the names of all packages that have it.
 *
 * @param {readonly string[]} places
 * @param {string} file
 */
export function writeLicences(places, file) {
  const byText = Map.groupBy(places, textOf);
  const parts = [...byText].map(([text, of]) => {
    const names = of.map((place) => {
      const { name, version, license } = lockedAt(place);
      return `${name} ${version}: ${license}\n`;
    });
    return `${names.join('')}\n${text || 'It comes without a text of its own.'}\n`;
  });
  writeFileSync(file, parts.join(`\n${'-'.repeat(80)}\n\n`));
}

function textOf(place) {
  const folder = join(root, place);
  const files = readdirSync(folder).filter((name) => isLicence.test(name));
  return files
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').trim())
    .join('\n\n');
}

// npm run notices: brings the tables of THIRD-PARTY-NOTICES.md up to package-lock.json. Cells that people wrote stay:
// what is inside a package, and where its source is.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';

/**
 * The notices with a row for each package that is installed in production, with its version and the licence that it
 * declares.
 *
 * @param {string} text
 * @param {Record<string, { version: string, license?: string, dev?: boolean, link?: boolean }>} locked packages by
 * place
 * @param {(place: string) => string} sourceOf gives the place of the source of a package that has no row yet
 */
export function updateNotices(text, locked, sourceOf) {
  const packages = Object.entries(locked)
    .filter(([place, { dev, link }]) => place.startsWith('node_modules/') && !dev && !link)
    .map(([place, { version, license = '' }]) => ({
      place,
      name: place.replace(/^.*node_modules\//, ''),
      version,
      license,
    }));
  const rows = new Map(text.matchAll(/^\| ([^|]+) \| .*$/gm).map(([row, name]) => [name, cellsOf(row)]));
  const rowOf = ({ place, name, version, license }) => {
    // Only packages with other projects' code inside have a cell for it.
    const [, , , ...written] = rows.get(name) ?? ['', '', '', sourceOf(place)];
    return `| ${[name, version, license, ...written].join(' | ')} |`;
  };
  const isOfFirst = ({ name }) => rows.get(name)?.length === 5;
  const tables = [packages.filter(isOfFirst), packages.filter((one) => !isOfFirst(one))].map((of) =>
    [...new Set(of.sort(byName).map(rowOf))].join('\n'),
  );
  return text.replace(/(?<=^\| --- .*\n)(\| .*\n)+/gm, () => `${tables.shift()}\n`);
}

const cellsOf = (row) => row.slice(2, -2).split(' | ');

function byName(a, b) {
  const [first, second] = [a, b].map(({ name, version }) => `${name} ${version}`);
  return first < second ? -1 : 1;
}

/** Where a package's source is, as the package says. */
function declaredSource(place) {
  const name = place.replace(/^.*node_modules\//, '');
  const file = join(root, place, 'package.json');
  const { repository } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const url = repository?.url ?? '';
  const isWeb = /^(git\+)?https:/.test(url);
  return isWeb ? url.replace(/^git\+|\.git$/g, '') : `https://www.npmjs.com/package/${name}`;
}

if (import.meta.main) {
  const file = join(root, 'THIRD-PARTY-NOTICES.md');
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  writeFileSync(file, updateNotices(readFileSync(file, 'utf8'), packages, declaredSource));
}

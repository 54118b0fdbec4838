import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

// A copy of halogrid includes its dependencies: the notices must name all of them, in the installed versions.

interface Locked {
  version: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
}

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const notices = read('THIRD-PARTY-NOTICES.md');
const locked = Object.entries(JSON.parse(read('package-lock.json')).packages as Record<string, Locked>);
const installed = locked
  .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link)
  .map(([path, { version, license }]) => [path.replace(/^.*node_modules\//, ''), version, license ?? ''] as const);
const rows = notices
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (package|---) /.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

test('every package that is installed in production is in the notices, with its version and declared licence', () => {
  assert.ok(installed.length > 100);
  const listed = new Set(rows.map(([name, version, licence]) => `${name} ${version}: ${licence}`));
  const missing = installed.map(([name, version, licence]) => `${name} ${version}: ${licence}`);
  assert.deepEqual(
    missing.filter((line) => !listed.has(line)),
    [],
  );
});

test('the notices have only installed packages, and every row says where the source is', () => {
  const names = new Set(installed.map(([name, version]) => `${name} ${version}`));
  for (const row of rows) {
    assert.ok(names.has(`${row[0]} ${row[1]}`), `${row[0]} ${row[1]} is not in package-lock.json`);
    assert.match(row.at(-1)!, /^https:\/\/\S+/);
  }
  assert.equal(new Set(rows.map(([name, version]) => `${name} ${version}`)).size, rows.length);
});

test('code under the GNU licences is marked so, even if its package does not declare it, and the texts are here', () => {
  const insideOf = (name: string) => rows.find((row) => row[0] === name)?.[3] ?? '';
  for (const machine of ['x64', 'arm64']) {
    assert.match(insideOf(`@seydx/node-av-linux-${machine}`), /GPL-3\.0/);
    assert.match(insideOf(`@img/sharp-libvips-linux-${machine}`), /LGPL-3\.0/);
  }
  assert.match(read('licenses/GPL-3.0.txt'), /GNU GENERAL PUBLIC LICENSE\s+Version 3/);
  assert.match(read('licenses/LGPL-3.0.txt'), /GNU LESSER GENERAL PUBLIC LICENSE\s+Version 3/);
});

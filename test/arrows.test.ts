import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

// Compares the arrows of ARCHITECTURE.md, and the places of docs/dependencies.md, with the imports of the code,
// including imports of types.

const checkout = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(checkout, path), 'utf8');
const manual = read('ARCHITECTURE.md');
const dependencies = read('docs/dependencies.md');

/** The cells of the table below a heading, or after a sentence. */
function table(after: string, page = manual): string[][] {
  const rows = page
    .slice(page.indexOf(after))
    .match(/(?:^\|.*\n)+/m)![0]
    .trim()
    .split('\n');
  return rows.slice(2).map((row) => row.slice(2, -2).split(' | '));
}
const quoted = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
/** The row, counted from the bottom, that names each package or room. */
const heights = (rows: string[][]): Map<string, number> =>
  new Map(rows.toReversed().flatMap((names, height) => names.map((name) => [name, height])));

const packages = globSync(['{apps,libs}/*/package.json', '{deploy,lab,test}/package.json'], { cwd: checkout }).map(
  (path) => {
    const { name, dependencies, devDependencies } = JSON.parse(read(path));
    return { folder: dirname(path), name, declared: Object.keys({ ...dependencies, ...devDependencies }) };
  },
);
const packageOf = (path: string) => packages.find(({ folder }) => path.startsWith(`${folder}/`))!;
const isOfTests = (path: string) => /\.(test|e2e)\.ts$|\/testing[./]|^test\//.test(path);
/** The lab measures whole systems with what tests have. Nothing imports it. */
const isOfLab = (path: string) => path.startsWith('lab/');

interface Import {
  from: string;
  /** A file, or a package with a path in it. */
  to: string;
}

/** Matches import statements, import calls, and the comments by which JavaScript imports types. */
const specifier =
  /^(?:import|export)\s[^;'"]*?\bfrom\s*'([^']+)'|^import\s*'([^']+)'|\b(?:import|import\.meta\.resolve)\(\s*'([^']+)'|^[/* ]*@import\s[^']*?\bfrom\s*'([^']+)'/gm;

const filesOf = (folder: string): string[] =>
  globSync(`${folder}/**/*.{ts,js,mjs}`, { cwd: checkout, exclude: (path) => path.includes('node_modules') });

const imports: Import[] = packages.flatMap(({ folder }) =>
  filesOf(folder).flatMap((from) =>
    [...read(from).matchAll(specifier)].map((match) => {
      const to = match.slice(1).find(Boolean)!;
      return { from, to: to.startsWith('.') ? join(dirname(from), to) : to };
    }),
  ),
);

/** Imports between packages, by name or by path. */
const between = imports.flatMap(({ from, to }) => {
  const is = packageOf(from);
  const of = packages.find(({ folder, name }) => `${to}/`.startsWith(`${name}/`) || to.startsWith(`${folder}/`));
  return of && of !== is ? [{ is, of, from }] : [];
});

test('packages import only packages of lower layers', () => {
  assert.ok(imports.length > 1_000, 'the imports of the code are found');
  const layers = heights(table('## Arrows').map(([, names]) => quoted(names!)));
  for (const { folder } of packages) assert.ok(layers.has(folder), `${folder} has no layer in ARCHITECTURE.md`);
  const upward = between.filter(({ is, of }) => layers.get(of.folder)! >= layers.get(is.folder)!);
  assert.deepEqual(
    upward.map(({ from, of }) => `${from} imports ${of.folder}`),
    [],
  );
});

test('packages declare the packages that they import, and no others', () => {
  for (const { folder, name, declared } of packages) {
    const used = between.flatMap(({ is, of }) => (is.name === name ? [of.name] : []));
    assert.deepEqual(
      used.filter((other) => !declared.includes(other)),
      [],
      `${folder}/package.json lacks what it imports`,
    );
    // 'halogrid', the whole system, is used by the path of its launcher, not by an import.
    const needless = declared.filter((other) => !used.includes(other) && other !== 'halogrid');
    assert.deepEqual(needless, [], `${folder}/package.json has what it does not import`);
  }
});

test('files that a package reads elsewhere in the checkout are inputs of its tests', () => {
  for (const { folder, declared } of packages) {
    const { nx } = JSON.parse(read(`${folder}/package.json`));
    const inputs: string[] = (nx?.namedInputs?.elsewhere ?? []).map((input: string) =>
      input.replace('{workspaceRoot}/', ''),
    );
    const known = packages.filter(({ name, folder: other }) => other === folder || declared.includes(name));
    for (const path of filesOf(folder)) {
      for (const [, url] of read(path).matchAll(/new URL\(\s*'(\.\.\/[^']*[\w/])'/g)) {
        const file = join(dirname(path), url!);
        const isInput = inputs.some((input) => matchesGlob(file, input) || matchesGlob(`${file}/x`, input));
        const isKnown =
          known.some((one) => `${file}/`.startsWith(`${one.folder}/`)) || file.startsWith('node_modules/');
        const place = `nx.namedInputs.elsewhere of ${folder}/package.json`;
        assert.ok(isInput || isKnown, `${path} reads ${file}: name it in ${place}`);
      }
    }
  }
});

/** The room of a file: a folder of src, or a file directly in src. */
const roomOf = (path: string): string => path.slice(`${packageOf(path).folder}/src/`.length).split('/')[0]!;
const rooms = imports.filter(({ from, to }) => {
  const isInside = to.startsWith(`${packageOf(from).folder}/src/`) && from.startsWith(`${packageOf(from).folder}/src/`);
  return isInside && !isOfTests(from) && roomOf(from) !== roomOf(to);
});

test('rooms of a package import only rooms below them', () => {
  for (const [name, order] of table('A room imports only rooms')) {
    const [folder] = quoted(name!);
    const layers = heights(order!.split('›').map(quoted));
    for (const { from, to } of rooms.filter(({ from }) => packageOf(from).folder === folder)) {
      for (const path of [from, to]) assert.ok(layers.has(roomOf(path)), `${path}: its room has no layer`);
      assert.ok(layers.get(roomOf(to))! < layers.get(roomOf(from))!, `${from} imports ${to}, which is not below it`);
    }
  }
});

test('no rooms of a package import each other in a circle', () => {
  const circles = packages.flatMap(({ folder }) => {
    const arrows = Map.groupBy(
      rooms.filter(({ from }) => packageOf(from).folder === folder),
      ({ from }) => roomOf(from),
    );
    const reach = (room: string, seen = new Set<string>()): Set<string> => {
      for (const { to } of arrows.get(room) ?? []) {
        if (!seen.has(roomOf(to))) reach(roomOf(to), seen.add(roomOf(to)));
      }
      return seen;
    };
    const inCircle = [...arrows.keys()].filter((room) => reach(room).has(room)).sort();
    return inCircle.length > 0 ? [`${folder}: ${inCircle.join(' ')}`] : [];
  });
  assert.deepEqual(circles, []);
});

test('no files import each other in a circle, types counted', () => {
  const left = new Map(
    Map.groupBy(imports, ({ from }) => from)
      .entries()
      .map(([from, of]) => [from, of.map(({ to }) => to)]),
  );
  const next = (file: string): string | undefined => left.get(file)!.find((to) => left.has(to));
  // A file that imports no remaining file is not in a circle.
  for (let size = -1; size !== left.size; ) {
    size = left.size;
    for (const file of [...left.keys()]) if (next(file) === undefined) left.delete(file);
  }
  const path = new Set<string>();
  let file = left.keys().next().value;
  for (; file && !path.has(file); file = next(file)) path.add(file);
  assert.deepEqual([...path], [], `each imports the next, and the last imports ${file}`);
});

test('the product imports no file of tests', () => {
  const isOurs = (to: string) => packages.some(({ folder }) => to.startsWith(`${folder}/`));
  const wrong = imports.filter(({ from, to }) => isOurs(to) && isOfTests(to) && !isOfTests(from) && !isOfLab(from));
  assert.deepEqual(
    wrong.map(({ from, to }) => `${from} imports ${to}`),
    [],
  );
});

test('npm packages are imported only in the places of docs/dependencies.md', () => {
  const rows = table('## Where they are imported', dependencies);
  const places = new Map(rows.flatMap(([names, where]) => quoted(names!).map((name) => [name, quoted(where!)])));
  const isOurs = (to: string) =>
    packages.some(({ folder, name }) => to.startsWith(`${folder}/`) || `${to}/`.startsWith(`${name}/`));
  const wrong = imports.flatMap(({ from, to }) => {
    const name = to.split('/', to.startsWith('@') ? 2 : 1).join('/');
    const allowed = places.get(name) ?? (name.startsWith('node:') ? [dirname(from)] : []);
    const isThere = allowed.some((place) => from.startsWith(`${place}/`) || `/${from}`.endsWith(`/${place}`));
    return isThere || isOfTests(from) || isOfLab(from) || isOurs(to) ? [] : [`${from}: ${name}`];
  });
  assert.deepEqual(wrong.sort(), []);
});

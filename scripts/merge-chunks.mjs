// Merges files of a bundle, because each file, and each import between files, takes Node some 50 µs of processor time
// to find and link.
import { rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * Merges files of a bundle that are loaded by the same starts. If one of them was an entry point, or is imported
 * dynamically, a stub with the same exports takes its place. No start loads more code than before.
 *
 * @param {string} folder the files of the bundle
 * @param {import('esbuild').Metafile} metafile of the bundle, with splitting
 * @param {Readonly<Record<string, readonly string[]>>} starts by a name, the sources that are loaded together; each is
 *   an entry point, or imported dynamically
 */
export async function mergeChunks(folder, metafile, starts) {
  const { build } = await import('esbuild');
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const fileOf = new Map([...outputs].flatMap(([file, { entryPoint }]) => (entryPoint ? [[entryPoint, file]] : [])));
  const loadedBy = Object.entries(starts).map(([name, sources]) => ({ name, files: closureOf(sources.map(entryOf)) }));
  const files = [...outputs.keys()].filter((file) => file.endsWith('.js'));
  const groups = Map.groupBy(files, (file) =>
    loadedBy.flatMap(({ name, files: loaded }) => (loaded.has(file) ? [name] : [])).join(' '),
  );
  groups.delete('');
  const named = [...groups.values()].map((group, number) => ({ group, name: `merged-${number}.js` }));
  const mergedOf = new Map(named.flatMap(({ group, name }) => group.map((file) => [file, name])));
  const contents = new Map();
  /** Files that are no longer imported: their importers import the merged files. */
  const gone = [];
  for (const { group, name } of named) {
    const entry = group.map((file) => `${exportsOf(file, (name) => [name, nameOf(file, name)])} from './${file}';`);
    const stdin = { contents: entry.join('\n'), resolveDir: folder };
    const [{ text }] = await rebuild({ stdin }, new Set(group));
    contents.set(name, text);
    for (const file of group) {
      if (outputs.get(file).entryPoint) contents.set(file, stub(file));
      else gone.push(file);
    }
  }
  const others = files.filter((file) => !mergedOf.has(file));
  const entryPoints = others.map((file) => join(folder, file));
  for (const { path, text } of await rebuild({ entryPoints, outdir: folder }, new Set()))
    contents.set(basename(path), text);
  for (const [file, content] of contents) await writeFile(join(folder, file), content);
  for (const file of gone) await rm(join(folder, file));

  function entryOf(source) {
    const file = fileOf.get(source);
    if (!file) throw new Error(`${source} is neither an entry point of the bundle nor imported dynamically`);
    return file;
  }

  /** These files, and all files that they import, directly or not. */
  function closureOf(entries) {
    const found = new Set();
    const add = (file) => {
      if (found.has(file)) return;
      found.add(file);
      for (const { path, kind, external } of outputs.get(file).imports)
        if (!external && kind === 'import-statement') add(basename(path));
    };
    for (const entry of entries) add(entry);
    return found;
  }

  /** Bundles files of `own`, and leaves all others where they are. */
  async function rebuild(entries, own) {
    const { outputFiles } = await build({
      ...entries,
      ...shortLines,
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'node',
      logLevel: 'warning',
      target: 'esnext',
      // Keeps all code, so that side effects happen as before.
      treeShaking: false,
      plugins: [{ name: 'others', setup: (bundle) => findOthers(bundle, own) }],
    });
    return outputFiles;
  }

  /** Resolves imports of merged files directly to the merged file. */
  function findOthers({ onLoad, onResolve }, own) {
    onResolve({ filter: /./ }, ({ path, kind }) => {
      if (kind === 'entry-point') return undefined;
      const file = path.startsWith('./') && kind === 'import-statement' ? basename(path) : '';
      if (own.has(file)) return { path: join(folder, file) };
      return mergedOf.has(file) ? { path: file, namespace: 'stub' } : { path, external: true };
    });
    onLoad({ filter: /./, namespace: 'stub' }, ({ path }) => ({ contents: stub(path) }));
  }

  function stub(file) {
    return `${exportsOf(file, (name) => [nameOf(file, name), name])} from './${mergedOf.get(file)}';\n`;
  }

  function exportsOf(file, pairOf) {
    const pairs = outputs.get(file).exports.map(pairOf);
    return `export { ${pairs.map(([from, to]) => `${from} as ${to}`).join(', ')} }`;
  }
}

/** Removes white space, which is a third of the code. */
export const shortLines = { minifyWhitespace: true, lineLimit: 200 };

/** The name in a merged file of an export of one of its files. */
const nameOf = (file, name) => `${name}_of_${file.replaceAll(/\W/g, '_')}`;

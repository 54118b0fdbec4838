// Bundles the program into a few files instead of a thousand, with the files that it reads beside them. The npm package
// holds this bundle, and tests start it hundreds of times: finding, reading and linking modules would be half of the
// time until a process serves.
import { cpSync, globSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './install.mjs';
import { mergeChunks, shortLines } from './merge-chunks.mjs';

/** The oldest Node that works. Earlier ones crash in the native code for JPEGs. */
export const leastNode = [22, 18];

/** Entries of threads and other processes, and modules that are loaded in one step when they are needed. */
const isProgram = /(-(worker|process)|\/introspection)\.ts$/;

/** The name of the variable that holds a bundle's own URL; all bundles are in one folder. */
const here = 'urlOfThisBundle';

/** Packages that are not bundled, because they have native code, or files that they find beside their own modules. */
export const isPackage = packages(
  ...['webgpu', 'sharp', 'koffi', '@julusian/jpeg-turbo', '@cornerstonejs/codec-openjpeg'],
  ...['@seydx/node-av-linux-x64', '@seydx/node-av-linux-arm64'],
  ...['@grpc/proto-loader', '@grpc/reflection', 'grpc-health-check'],
  // `pg` uses it if it is installed.
  'pg-native',
);

/** Files of packages that are read, not imported. Only these files are copied, to the same path below `packages`. */
const readFromPackages = [
  'openseadragon/build/openseadragon/openseadragon.min.js',
  'lerc/lerc-wasm.wasm',
  '@sparticuz/chromium/bin/swiftshader.tar.br',
];

/** What is loaded by processes that start often, or that others wait for. */
const starts = {
  any: ['apps/cli/src/program.ts'],
  run: ['apps/cli/src/commands/run.ts'],
  ofOwnCluster: [
    'apps/cli/src/plan/make-plan.ts',
    'apps/coordinator/src/index.ts',
    'libs/service/src/log.ts',
    'apps/coordinator/src/plan/planner.ts',
    'apps/coordinator/src/plan/plan-patiently.ts',
    'apps/coordinator/src/output/tables-orders.ts',
  ],
  coordinator: ['apps/cli/src/commands/coordinator.ts', 'apps/coordinator/src/index.ts'],
  node: ['apps/cli/src/commands/node.ts', 'apps/gpu-node/src/index.ts'],
  client: ['apps/cli/src/commands/jobs.ts'],
  library: ['apps/cli/src/library.ts'],
};

/** Files that modules find beside themselves. */
const beside = '{apps,libs}/*/{src,halogrid}/**/*.{css,html,js,svg,wasm,wgsl,proto}';

/**
 * Bundles the present sources into a folder, which is replaced; takes about a second. Its folder `program` has the
 * JavaScript; files that modules find beside themselves keep their paths of the checkout.
 *
 * @param {string} folder
 * @returns {Promise<{ main: string, bundled: string[] }>} path of what `main` in apps/cli/bin/launch.mjs is of the
 * sources, and the
 *   packages that it has parts of, by place
 */
export async function bundleProgram(folder) {
  const { build } = await import('esbuild');
  const mains = ['main.ts', 'program.ts', 'library.ts'].map((name) => join('apps/cli/src', name));
  const programs = globSync('{apps,libs}/*/src/**/*.ts', { cwd: root }).filter(
    (path) => isProgram.test(path) && !path.includes('/testing/'),
  );
  // Bundled programs are named by their file names alone, so no two may have the same.
  const names = Map.groupBy(programs, (path) => basename(path));
  for (const [name, paths] of names)
    if (paths.length > 1) throw new Error(`${name} is the name of ${paths.join(' and of ')}`);

  rmSync(folder, { recursive: true, force: true });
  const out = join(folder, 'program');
  const options = {
    absWorkingDir: root,
    metafile: true,
    inject: [join(root, 'scripts/older-node.mjs')],
    entryNames: '[name]',
    outdir: out,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
    target: `node${leastNode.join('.')}`,
    // CommonJS packages require Node's own modules.
    banner: {
      js: `import { createRequire as from } from 'node:module'; const ${here} = import.meta.url, require = from(${here});`,
    },
    plugins: [{ name: 'sources', setup: (bundle) => readSources(bundle, new Set(programs)) }],
  };
  // Threads are built separately: code shared with processes would otherwise be split into as many files as there are
  // kinds of threads.
  const isThread = (path) => path.endsWith('-worker.ts');
  const [{ metafile }, threads] = await Promise.all([
    build({ ...options, entryPoints: [...mains, ...programs.filter((path) => !isThread(path))] }),
    build({ ...options, ...shortLines, entryPoints: programs.filter(isThread), chunkNames: 'thread-[hash]' }),
  ]);
  await mergeChunks(out, metafile, starts);
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ version, type: 'module' }));
  // Without it, Node parses each file twice to find out what kind of module it is.
  await writeFile(join(folder, 'program/package.json'), JSON.stringify({ type: 'module' }));
  // The page of apps/demo is not part of the program.
  for (const path of globSync(beside, { cwd: root })) if (!path.startsWith('apps/demo/')) copy(path, path);
  for (const path of readFromPackages) copy(join('node_modules', path), join('packages', path));
  const read = readFromPackages.map((path) => `node_modules/${path}`);
  return {
    main: join(folder, 'program/main.js'),
    bundled: packagesIn([...Object.keys(metafile.inputs), ...Object.keys(threads.metafile.inputs), ...read]),
  };

  function copy(from, to) {
    cpSync(join(root, from), join(folder, to), { recursive: true });
  }
}

/**
 * Paths of the packages that these files belong to.
 *
 * @param {readonly string[]} paths in the checkout
 */
export function packagesIn(paths) {
  const places = paths.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(places)].filter((place) => !place.includes('/@halogrid/')).sort();
}

/**
 * An import of node:http reads all its exports, and so loads the client behind its WebSocket, which takes each process
 * and thread 35 ms of a core. This is node:http without it.
 */
const leanHttp = `const http = process.getBuiltinModule('node:http');
export const { ${Object.entries(Object.getOwnPropertyDescriptors(http))
  .filter(([, { value }]) => value !== undefined)
  .map(([name]) => name)} } = http;
export default http;
`;

/** A plugin of esbuild: makes sources find the files beside them from the one folder of all bundles. */
function readSources({ onLoad, onResolve }, programs) {
  onResolve({ filter: /^node:http$/ }, ({ path }) => ({ path, namespace: 'lean' }));
  onLoad({ filter: /./, namespace: 'lean' }, () => ({ contents: leanHttp }));
  // A name that is not a path: a package, from the checkout or from the registry.
  onResolve({ filter: /^(@[^/]+\/)?[^./@][^:]*$/ }, ({ path, kind }) => {
    return kind !== 'entry-point' && isPackage.test(path) ? { path, external: true } : undefined;
  });
  onLoad({ filter: /\/(apps|libs)\/.*\.m?[jt]s$/ }, async ({ path }) => {
    // The checkout may lie below a folder of such a name.
    if (path.includes('/node_modules/')) return undefined;
    const from = relative(root, path);
    if (from === 'apps/cli/bin/program.mjs')
      return { contents: programOf(`new URL('./main.js', ${here})`), loader: 'js' };
    const source = await readFile(path, 'utf8');
    const contents = source
      .replace(/new URL\('(\.\/[^']+\.ts)', import\.meta\.url\)/g, (as, name) => {
        const program = join(dirname(from), name);
        return programs.has(program) ? `new URL('./${basename(program, '.ts')}.js', ${here})` : as;
      })
      .replace(/\brequire\('\.\/([\w-]+)\.ts'\)/g, (_, name) => `require(new URL('./${name}.js', ${here}).pathname)`)
      // A package that is loaded only when it is first needed is still bundled.
      .replaceAll("createRequire(import.meta.url)('temporal-polyfill')", "require('temporal-polyfill')")
      .replace(/import\.meta\.resolve\('([^']+)'\)/g, (_, name) => urlOf(placeOf(name)))
      .replaceAll('import.meta.url', urlOf(from));
    return { contents, loader: path.endsWith('ts') ? 'ts' : 'js' };
  });
}

/**
 * The code that replaces apps/cli/bin/program.mjs in a package: it names the Node that runs it, and the bundle.
 *
 * @param {string} main an expression
 */
export const programOf = (main) => `import { fileURLToPath } from 'node:url';
export const node = process.execPath;
export const main = fileURLToPath(${main});
const [major, minor] = process.versions.node.split('.').map(Number);
export const nodeMajor = major;
const isOld = major < ${leastNode[0]} || (major === ${leastNode[0]} && minor < ${leastNode[1]});
export const whyNot = isOld ? \`Node ${leastNode.join('.')} or newer is needed; this is \${process.versions.node}\` : undefined;
`;

const urlOf = (path) => `new URL('../${path}', ${here}).href`;

/** The path of a package's file in the folder, whether it is copied or not. */
function placeOf(name) {
  const path = relative(root, fileURLToPath(import.meta.resolve(name)));
  return path.replace(/^node_modules\/(?!@halogrid\/)/, 'packages/');
}

/** Matches imports of these packages. */
function packages(...names) {
  return new RegExp(`^(${names.join('|')})(/|$)`);
}

// The program as a few files instead of a thousand, for tests that start it hundreds of times: finding, reading and linking modules is half of
// what a process takes to serve. Users run the sources.
import { readdirSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './install.mjs';

/** Where packages are found as from the sources. */
const folder = join(root, 'node_modules/.cache/program');

/** What threads and other processes begin with. */
const isProgram = /^(apps|libs)\/[^/]+\/src\/(?!.*testing\/).*-(worker|process)\.ts$/;

/** Packages of plain JavaScript that read no files of their own, with what they need; all others stay where they are. */
const bundledPackages = packages(
  ...['@bufbuild/protobuf', 'commander', 'hyparquet', 'hyparquet-writer'],
  ...['@grpc/grpc-js', '@js-sdsl/ordered-map'],
  ...['prom-client', '@opentelemetry/api', 'bintrees', 'tdigest'],
  ...['pino', 'pino-std-serializers', 'process-warning', '@pinojs/redact', 'quick-format-unescaped'],
  ...['sonic-boom', 'atomic-sleep', 'thread-stream', 'on-exit-leak-free', 'real-require', 'safe-stable-stringify'],
);

/**
 * Bundles the sources as they are now, in a second. What a module finds beside itself is found beside its source.
 *
 * @returns {Promise<string>} path of what `main` in apps/cli/bin/launch.mjs is of the sources
 */
export async function bundleProgram() {
  const { build } = await import('esbuild');
  const [main, commands] = ['main.ts', 'program.ts'].map((name) => join(root, 'apps/cli/src', name));
  const programs = ['apps', 'libs']
    .flatMap((part) => readdirSync(join(root, part), { recursive: true }).map((path) => `${part}/${path}`))
    .filter((path) => isProgram.test(path))
    .map((path) => join(root, path));
  const isEntry = new Set(programs);
  const bundleOf = (source) => join(folder, relative(root, source)).replace(/ts$/, 'js');
  const urlOf = (path) => JSON.stringify(pathToFileURL(path).href);

  rmSync(folder, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: [main, commands, ...programs],
    outbase: root,
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
    // Packages of CommonJS ask for Node's own modules.
    banner: { js: "import { createRequire as from } from 'node:module'; const require = from(import.meta.url);" },
    plugins: [
      {
        name: 'sources',
        setup({ onLoad, onResolve }) {
          // A name that is no path: a package, of the checkout or of the registry.
          onResolve({ filter: /^(@[^/]+\/)?[^./@][^:]*$/ }, ({ path, kind }) => {
            if (kind === 'entry-point' || path.startsWith('@halogrid/') || bundledPackages.test(path)) return undefined;
            return { path, external: true };
          });
          onLoad({ filter: /\/(apps|libs)\/.*\.m?[jt]s$/ }, async ({ path }) => {
            // The checkout may lie below a folder of such a name.
            if (path.includes('/node_modules/')) return undefined;
            const source = await readFile(path, 'utf8');
            const beside = /new URL\('(\.\/[^']+\.ts)', import\.meta\.url\)/g;
            const contents = source
              .replace(beside, (as, name) => {
                const program = join(dirname(path), name);
                return isEntry.has(program) ? `new URL(${urlOf(bundleOf(program))})` : as;
              })
              .replaceAll('import.meta.url', urlOf(path));
            return { contents, loader: path.endsWith('ts') ? 'ts' : 'js' };
          });
        },
      },
    ],
  });
  // Without it, Node parses each file twice to find out what kind of module it is.
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  return bundleOf(main);
}

/** Matches what is imported of these packages. */
function packages(...names) {
  return new RegExp(`^(${names.join('|')})(/|$)`);
}

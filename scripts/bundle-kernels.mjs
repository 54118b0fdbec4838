// Bundles only the kernels, for other programs: one module that runs in browsers and in Node.js, with shaders and
// WebAssembly inside, and its types.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { declareTypes } from './declare-types.mjs';
import { root } from './install.mjs';

const sources = join(root, 'libs/kernels/src');
const entry = 'libs/kernels/src/api/index.ts';

/** How a module refers to a file beside it. */
const beside = /new URL\('(\.\/[\w-]+\.(?:wgsl|wasm))', import\.meta\.url\)/g;

/** A plugin of esbuild that puts the files that the kernels' modules read into the bundle. */
const contentsInside = {
  name: 'contents inside',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (!path.startsWith(sources)) return undefined;
      if (path.endsWith('/kernel/read-beside.ts')) {
        return { contents: 'export const readText = (text) => text, readFileBeside = (bytes) => bytes;', loader: 'js' };
      }
      const files = [];
      const code = readFileSync(path, 'utf8').replace(beside, (_, file) => `contents${files.push(file) - 1}`);
      return { contents: files.map((file, i) => `import contents${i} from '${file}';`).join('') + code, loader: 'ts' };
    });
    onLoad({ filter: /\.wasm$/ }, ({ path }) => ({ contents: readFileSync(path), loader: 'binary' }));
    onLoad({ filter: /\.wgsl$/ }, ({ path }) => ({ contents: shortWgsl(readFileSync(path, 'utf8')), loader: 'text' }));
  },
};

/** WGSL without comments, indentation and empty lines. WGSL has no string literals, so this is safe. */
function shortWgsl(code) {
  const lines = code
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .map((line) => line.replace(/\/\/.*/, '').trim());
  return lines.filter((line) => line !== '').join('\n');
}

/** Targets: browsers with WebGPU, and Node.js from 22 on. */
const target = ['chrome113', 'firefox128', 'safari17.4', 'node22'];

/** Common options of bundles for browsers. */
export const forBrowsers = {
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target,
  minify: true,
  // For an error, Node.js shows the line and the name of its class, so lines are short and names are kept.
  lineLimit: 160,
  keepNames: true,
  logLevel: 'warning',
  plugins: [contentsInside],
};

/** Where bundleKernels writes within a package, for `exports` of its package.json. */
export const kernelsExport = {
  types: `./kernels/types/${entry.replace(/ts$/, 'd.ts')}`,
  default: './kernels/index.js',
};

/**
 * Writes the module into the folder of a package.
 *
 * @param {string} folder
 */
export async function bundleKernels(folder) {
  const { build } = await import('esbuild');
  const entryPoints = [join(root, entry)];
  await build({ ...forBrowsers, entryPoints, outfile: join(folder, kernelsExport.default) });
}

/**
 * Writes the declarations of the module into the folder of a package.
 *
 * @param {string} folder
 */
export const declareKernels = (folder) => declareTypes(entry, join(folder, 'kernels/types'));

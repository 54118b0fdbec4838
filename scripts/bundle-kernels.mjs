// The kernels alone, for other programs: one module that runs in browsers and in Node.js, with shaders and WebAssembly
// inside, and its types.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { declareTypes } from './declare-types.mjs';
import { root } from './install.mjs';

const sources = join(root, 'libs/kernels/src');
const entry = 'libs/kernels/src/api/index.ts';

/** A file that lies beside a module, as it asks for it. */
const beside = /new URL\('(\.\/[\w-]+\.(?:wgsl|wasm))', import\.meta\.url\)/g;

/** A plugin of esbuild that puts what modules of the kernels read beside themselves into the bundle. */
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

/** WGSL without comments, indentation and empty lines. It has no texts in which these could stand. */
function shortWgsl(code) {
  const lines = code
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .map((line) => line.replace(/\/\/.*/, '').trim());
  return lines.filter((line) => line !== '').join('\n');
}

/** Browsers with WebGPU, and Node.js from 22 on. */
const target = ['chrome113', 'firefox128', 'safari17.4', 'node22'];

/** What bundles for browsers have in common. */
export const forBrowsers = {
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target,
  minify: true,
  // Where it throws, Node.js shows the line, and the name of the error's class.
  lineLimit: 160,
  keepNames: true,
  logLevel: 'warning',
  plugins: [contentsInside],
};

/** Where a package has what bundleKernels writes, for `exports` of its package.json. */
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
 * Writes what declares the module into the folder of a package.
 *
 * @param {string} folder
 */
export const declareKernels = (folder) => declareTypes(entry, join(folder, 'kernels/types'));

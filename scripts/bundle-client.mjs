// Bundles only the client of the HTTP API, for other programs: one module for browsers and all other runtimes.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';

/**
 * Bundles the client of the HTTP API into one file in a folder, which is replaced.
 *
 * @param {string} folder
 * @returns {Promise<string[]>} paths in the checkout of the modules in it, and the names that it imports
 */
export async function bundleClient(folder) {
  const { build } = await import('esbuild');
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['libs/client/src/index.ts'],
    outfile: join(folder, 'index.js'),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    logLevel: 'warning',
    metafile: true,
    target: 'es2024',
  });
  const [output] = Object.values(metafile.outputs);
  const inside = Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput > 0 ? [path] : [],
  );
  return [...inside, ...output.imports.map(({ path }) => path)];
}

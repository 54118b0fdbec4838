// Reads files that belong to kernels: the only importer of node:fs here. Bundles for browsers contain the files'
// contents.
import { readFileSync } from 'node:fs';

/** The text of a file beside a module. */
export const readText = (file: URL): string => readFileSync(file, 'utf8');

/** The bytes of a file beside a module. */
export const readFileBeside = (file: URL): Uint8Array<ArrayBuffer> => readFileSync(file);

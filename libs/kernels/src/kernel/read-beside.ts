// What kernels read of files: the only importer of node:fs here. Where there are no files, a bundle has their contents
// instead.
import { readFileSync } from 'node:fs';

/** The text of a file that lies beside a module. */
export const readText = (file: URL): string => readFileSync(file, 'utf8');

/** The bytes of a file that lies beside a module. */
export const readFileBeside = (file: URL): Uint8Array<ArrayBuffer> => readFileSync(file);

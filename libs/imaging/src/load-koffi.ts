import { createRequire } from 'node:module';

let loaded: typeof import('koffi') | undefined;

/** What calls native code, once something needs it: loading it takes 10 ms of every thread (measured), and few call any. */
export function loadKoffi(): typeof import('koffi') {
  loaded ??= createRequire(import.meta.url)('koffi') as typeof import('koffi');
  return loaded;
}

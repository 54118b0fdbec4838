// What runs, and under which Node: in a checkout the sources, under the Node of its node_modules. A package has another
// file in the place of this one.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const node = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));
export const nodeMajor = 24;

/** Tests put a bundle in the place of the sources. */
export const main = process.env.HALOGRID_PROGRAM ?? fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** Why nothing can run, in one sentence; undefined where it can. */
export const whyNot = existsSync(node)
  ? undefined
  : `Nothing is installed here: run 'npm ci' first (there is no ${node})`;

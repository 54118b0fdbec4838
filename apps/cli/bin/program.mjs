// What runs, and under which Node. In a checkout these are the sources and the Node of its node_modules. A package
// replaces this file.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const node = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));
export const nodeMajor = 24;

/** Tests run a bundle instead of the sources. */
export const main = process.env.HALOGRID_PROGRAM ?? fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** Why the program cannot run, in one sentence; undefined if it can. */
export const whyNot = existsSync(node)
  ? undefined
  : `Nothing is installed here: run 'npm ci' first (there is no ${node})`;

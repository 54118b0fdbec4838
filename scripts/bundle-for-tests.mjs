// Bundles the program for the tests that start it, and prints the path of its main file.
import { join } from 'node:path';
import { bundleProgram } from './bundle.mjs';
import { root } from './install.mjs';

const { main } = await bundleProgram(join(root, 'node_modules/.cache/program'));
console.log(main);

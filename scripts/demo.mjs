// npm run demo [DIR]: makes the page of apps/demo in dist/demo or another folder, for any host of static files.
import { join, resolve } from 'node:path';
import { bundleDemo } from './bundle-demo.mjs';
import { install, root } from './install.mjs';

install();
const folder = resolve(process.argv[2] ?? join(root, 'dist/demo'));
await bundleDemo(folder);
console.log(folder);

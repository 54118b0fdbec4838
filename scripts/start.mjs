// npm start [-- SOURCE… OPTION…]: installs what is missing, then runs the main job through an embedded coordinator and
// two nodes, on the samples where no source is given.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../apps/cli/bin/launch.mjs';
import { install, root } from './install.mjs';
import { startArguments } from './start-arguments.mjs';

install();
// npm runs this in the checkout; paths are meant as seen from where it was called.
process.chdir(process.env.INIT_CWD ?? root);
// npm leaves the decoder out where there is none for the machine, or where it was told to install nothing optional.
const decoder = `@seydx/node-av-linux-${process.arch}`;
const { args, notes } = startArguments(process.argv.slice(2), {
  folder: join(root, 'samples'),
  whyNoVideos: existsSync(join(root, 'node_modules', decoder)) ? undefined : `${decoder} is not installed`,
});
for (const note of notes) console.error(note);
process.exitCode = await launch(args);

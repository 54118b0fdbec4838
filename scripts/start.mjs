// npm start [-- SOURCE… OPTION…]: installs what is missing, then runs the main job through an embedded coordinator and
// two nodes, on the samples where no source is given.
import { join } from 'node:path';
import { launch } from '../apps/cli/bin/launch.mjs';
import { install, root } from './install.mjs';
import { startArguments } from './start-arguments.mjs';

install();
// npm runs this in the checkout; paths are meant as seen from where it was called.
process.chdir(process.env.INIT_CWD ?? root);
// Cut into tiles and batches, so that a first run shows both.
const samples = [join(root, 'samples/images'), join(root, 'samples/frames'), '--tile', '1024', '--map', 'tiff'];
process.exitCode = await launch(startArguments(process.argv.slice(2), samples));

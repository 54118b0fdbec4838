// npm start [-- SOURCE… OPTION…]: installs what is missing, then runs the main job through an embedded coordinator and
// two nodes, on the samples where no source is given.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install, node, root } from './install.mjs';
import { startArguments } from './start-arguments.mjs';

install();
// Imported now: it looks for what was just installed.
const { launch } = await import('../apps/cli/bin/launch.mjs');
// npm runs this in the checkout; paths are meant as seen from where it was called.
process.chdir(process.env.INIT_CWD ?? root);
const { args, notes } = startArguments(process.argv.slice(2), {
  folder: join(root, 'samples'),
  whyNoVideos: whyNoVideos(),
});
for (const note of notes) console.error(note);
process.exitCode = await launch(args);

/**
 * What the program says of videos here; undefined where it reads them. npm may have been told to install nothing
 * optional.
 */
function whyNoVideos() {
  const finder = JSON.stringify(join(root, 'libs/imaging/src/video/process/find-ffmpeg.ts'));
  const script = `import(${finder}).then(({ findFfmpeg }) => findFfmpeg()).catch(({ message }) => console.log(message))`;
  return spawnSync(node, ['-e', script], { encoding: 'utf8' }).stdout.trim() || undefined;
}

// npm start [-- SOURCE… OPTION…]: installs what is missing, then runs a job through an embedded coordinator and two
// nodes, on the samples if no source is given.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install, node, root } from './install.mjs';
import { startArguments } from './start-arguments.mjs';

install();
// Imported only now, because it needs the packages that were just installed.
const { launch } = await import('../apps/cli/bin/launch.mjs');
// npm runs this in the checkout, but paths are relative to the folder where npm was called.
process.chdir(process.env.INIT_CWD ?? root);
const { args, notes } = startArguments(process.argv.slice(2), {
  folder: join(root, 'samples'),
  whyNoVideos: whyNoVideos(),
});
for (const note of notes) console.error(note);
process.exitCode = await launch(args);

/** Why the program cannot read videos here; undefined if it can. npm may have been told to skip optional packages. */
function whyNoVideos() {
  const finder = JSON.stringify(join(root, 'libs/imaging/src/video/process/find-ffmpeg.ts'));
  const script = `import(${finder}).then(({ findFfmpeg }) => findFfmpeg()).catch(({ message }) => console.log(message))`;
  return spawnSync(node, ['-e', script], { encoding: 'utf8' }).stdout.trim() || undefined;
}

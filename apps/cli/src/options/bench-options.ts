import { type Command, Option } from 'commander';
import { decodeChoices, deviceChoices, parseWord, someOf, wholeNumber } from './option-values.ts';

// Options of `halogrid bench`. The lab has the same for its own benchmarks.

/** Devices with a clock that times kernels. */
export const timedDevices = ['gpu', 'software'] as const;

export const frameFormat = () =>
  new Option('--format <format>', 'jpg, or pgm (gray pixels that need no decoding)')
    .argParser(parseWord('--format', ['jpg', 'pgm'] as const))
    .default('jpg');
export const frameQuality = () =>
  new Option('--quality <q>', 'JPEG quality').argParser(wholeNumber('--quality', 1, 100)).default(90);
export const frameWidth = () =>
  new Option('--width <px>', 'width of a frame').argParser(wholeNumber('--width', 1, 32768)).default(1920);
export const frameHeight = () =>
  new Option('--height <px>', 'height of a frame').argParser(wholeNumber('--height', 1, 32768)).default(1080);

/** Adds the options of `bench kernels`. */
export function addKernelsOptions(command: Command): Command {
  return command
    .option('--device <kind>', 'gpu or software', parseWord('--device', timedDevices), 'gpu')
    .option('--width <px>', 'width of the image', wholeNumber('--width', 1, 32768), 4928)
    .option('--height <px>', 'height of the image', wholeNumber('--height', 1, 32768), 2772)
    .option('--repetitions <n>', 'samples; their median is shown', wholeNumber('--repetitions', 1, 1000), 40);
}

/** Adds the options of `bench frames`. */
export function addFramesOptions(command: Command): Command {
  return command
    .option('--device <kind>', 'as for run', parseWord('--device', deviceChoices), 'auto')
    .option('--frames <n>', 'frames per run', wholeNumber('--frames', 1, 1_000_000), 2000)
    .option('--decode <where,…>', 'as for run; several are measured in turns', someOf('--decode', decodeChoices), [
      'auto',
    ])
    .addOption(frameFormat())
    .addOption(frameQuality())
    .option('--scene <file>', 'a photograph to cut the frames from (default: a synthetic scene)')
    .addOption(frameWidth())
    .addOption(frameHeight())
    .option('--nodes <n>', 'node processes on the device', wholeNumber('--nodes', 1, 64), 1)
    .option('--repetitions <n>', 'runs of each, in turns', wholeNumber('--repetitions', 1, 1000), 5);
}

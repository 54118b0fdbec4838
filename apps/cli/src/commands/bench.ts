import { type Command, Option } from 'commander';
import { deviceChoices, oneOf, wholeNumber } from '../options/option-values.ts';

/** Benchmarks are loaded when asked for: they bring WebGPU and an encoder along. */
export function addBenchCommand(program: Command): void {
  const bench = program.command('bench').summary('measure this machine').description('Measures this machine.');
  bench
    .command('kernels')
    .summary('kernel times by GPU timestamps')
    .description('Times the kernels on random pixels by the device’s own clock; several images in rotation.')
    .addOption(new Option('--device <kind>', 'gpu or software').choices(['gpu', 'software']).default('gpu'))
    .option('--width <px>', 'width of the image', wholeNumber('--width', 1, 32768), 4928)
    .option('--height <px>', 'height of the image', wholeNumber('--height', 1, 32768), 2772)
    .option('--repetitions <n>', 'samples, of which the median is taken', wholeNumber('--repetitions', 1, 1000), 40)
    .action(async (options) => {
      const { benchKernels } = await import('../bench/bench-kernels.ts');
      process.stdout.write(await benchKernels(options));
    });
  bench
    .command('frames')
    .summary('JPEG frames end to end against decoding alone')
    .description('Runs 1080p JPEG frames through a coordinator and a node, and decoding alone beside it, in turns.')
    .option('--device <kind>', 'as of run', oneOf('--device', deviceChoices), 'auto')
    .option('--frames <n>', 'frames a run', wholeNumber('--frames', 1, 1_000_000), 2000)
    .option('--quality <q>', 'JPEG quality', wholeNumber('--quality', 1, 100), 90)
    .option('--repetitions <n>', 'runs of each, in turns', wholeNumber('--repetitions', 1, 1000), 5)
    .action(async (options) => {
      const { benchFrames } = await import('../bench/bench-frames.ts');
      process.stdout.write(await benchFrames(options, (line) => console.error(line)));
    });
}

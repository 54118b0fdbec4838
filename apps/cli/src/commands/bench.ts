import type { Command } from 'commander';
import { addFramesOptions, addKernelsOptions } from '../options/bench-options.ts';

/** Benchmarks are loaded only when they run, because they load WebGPU and an encoder. */
export function addBenchCommand(program: Command): void {
  const bench = program.command('bench').description('Measures this machine.');
  addKernelsOptions(bench.command('kernels'))
    .summary('kernel times by GPU timestamps')
    .description('Times the kernels with the clock of the device, on several images in turn.')
    .action(async (options) => {
      const { benchKernels } = await import('@halogrid/bench/kernels');
      process.stdout.write(await benchKernels(options));
    });
  addFramesOptions(bench.command('frames'))
    .summary('frames end to end against decoding alone')
    .description(
      'Runs frames through a coordinator and nodes, and compares that with decoding alone (for pgm: reading alone), in turns.',
    )
    .action(async (options) => {
      const { startFrameCluster } = await import('../cluster/frame-cluster.ts');
      const { benchFrames } = await import('@halogrid/bench/frames');
      process.stdout.write(await benchFrames(options, startFrameCluster, (line) => console.error(line)));
    });
}

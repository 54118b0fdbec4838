import { hwaccels, maxBatchFrames } from '@halogrid/proto';
import { Argument, type Command, Option } from 'commander';
import {
  addFramesOptions,
  addKernelsOptions,
  frameFormat,
  frameHeight,
  frameQuality,
  frameWidth,
  timedDevices,
} from 'halogrid/bench-options';
import { decodeChoices, deviceChoices, parseWord, searchDevices, someOf, wholeNumber } from 'halogrid/option-values';
import { ascendingCounts } from './ascending-counts.ts';
import type { ReportId } from './reports/bench-reports.ts';

/** Devices that can search an index. */
const scanDevices = searchDevices.filter((kind) => kind !== 'auto');
const reportIds: readonly ReportId[] = ['r1', 'r2', 'r3', 'r4', 'r5'];
const reportId = parseWord('a report', reportIds);

const note = (line: string): void => console.error(line);

/** Adds the benchmarks. Each is loaded only when it runs, because they load WebGPU and an encoder. */
export function addMeasurements(lab: Command): void {
  lab
    .command('reports')
    .summary('the tables of five reports, measured here')
    .description('Measures what five published reports measured and shows both figures, as tables, CSV and charts.')
    .addArgument(
      new Argument('[report...]', 'some of r1 r2 r3 r4 r5 (default: all)').argParser(
        Object.assign((text: string, before: ReportId[] | undefined) => [...(before ?? []), reportId(text)], {
          choices: reportIds,
        }),
      ),
    )
    .option('--tables <name,…>', 'only these tables of the reports, by the names of their CSV files', (text) =>
      text.split(','),
    )
    .option('--device <kind>', 'gpu or software', parseWord('--device', timedDevices), 'gpu')
    .option('-o, --out <dir>', 'folder of the CSV files and charts', 'halogrid-out/reports')
    .option('--quick', 'use sizes that a software GPU computes within seconds', false)
    .option('--repetitions <n>', 'samples (default: as many as the report)', wholeNumber('--repetitions', 1, 1000))
    .option(
      '--cell-seconds <s>',
      'leave out measurements that take longer than this',
      wholeNumber('--cell-seconds', 1, 86_400),
      5,
    )
    .action(async (reports: ReportId[], options) => {
      const { benchReports } = await import('./reports/bench-reports.ts');
      const chosen = reports.length > 0 ? reportIds.filter((id) => reports.includes(id)) : reportIds;
      await benchReports({ reports: chosen, ...options }, (text) => process.stdout.write(text));
    });
  addKernelsOptions(lab.command('kernels'))
    .summary('`halogrid bench kernels` beside CUDA programs')
    .description(
      'Times the kernels as `halogrid bench kernels`, and CUDA programs that compute the same if nvcc is installed.',
    )
    .action(async (options) => {
      const { benchKernelsBesideCuda } = await import('./cuda/suite-beside-cuda.ts');
      process.stdout.write(await benchKernelsBesideCuda(options, note));
    });
  addFramesOptions(lab.command('frames'))
    .summary('`halogrid bench frames` beside nvJPEG')
    .description(
      "Compares frames as `halogrid bench frames`. With --device gpu, NVIDIA's nvJPEG decodes the JPEGs in turns if nvcc is installed.",
    )
    .action(async (options) => {
      const { startFrameCluster } = await import('halogrid/frame-cluster');
      const { benchFramesBesideNvjpeg } = await import('./cuda/nvjpeg-rates.ts');
      process.stdout.write(await benchFramesBesideNvjpeg(options, startFrameCluster, note));
    });
  lab
    .command('jpeg')
    .summary('JPEG decoding on the GPU alone')
    .description(
      'Times each stage of decoding JPEG frames to luma with the clock of the device, and compares the pixels with the ' +
        'result of libjpeg-turbo. Then it gives a node such frames from files, without a coordinator.',
    )
    .option('--device <kind>', 'gpu or software', parseWord('--device', timedDevices), 'gpu')
    .option('--qualities <q,…>', 'JPEG qualities', ascendingCounts('--qualities', 100), [75, 90])
    .option('--scene <file>', 'a photograph to cut the frames from (default: a synthetic scene)')
    .addOption(frameWidth())
    .addOption(frameHeight())
    .option(
      '--frames <n>',
      'frames for the node; 0: none (default: 20000 on a GPU, otherwise 0)',
      wholeNumber('--frames', 0, 1_000_000),
    )
    .option(
      '--decode <where,…>',
      'where the node decodes (default: all choices, in turns)',
      someOf('--decode', decodeChoices),
    )
    .option('--batch <n>', 'frames decoded at once', wholeNumber('--batch', 1, 1024), 64)
    .option('--repetitions <n>', 'batches; their median is shown', wholeNumber('--repetitions', 1, 1000), 20)
    .action(async (options) => {
      const { benchJpeg } = await import('./jpeg/bench-jpeg.ts');
      process.stdout.write(await benchJpeg(options, note));
    });
  lab
    .command('video')
    .summary('recordings end to end against decoding alone')
    .description(
      'Runs copies of a recording through a coordinator and nodes, and compares that with decoding alone, by FFmpeg and by ' +
        'the decoders of halogrid, in turns.',
    )
    .option('--device <kind>', 'as for run', parseWord('--device', deviceChoices), 'auto')
    .option('--clip <file>', 'a recording (default: one is made and kept in the cache folder of the user)')
    .option(
      '--codec <name>',
      'codec of the recording that is made: h264 or hevc',
      parseWord('--codec', ['h264', 'hevc'] as const),
      'h264',
    )
    .option('--frames <n>', 'frames of the recording that is made', wholeNumber('--frames', 1, 100_000), 342)
    .option('--width <px>', 'width of the recording that is made', wholeNumber('--width', 16, 8192), 1920)
    .option('--height <px>', 'height of the recording that is made', wholeNumber('--height', 16, 8192), 1080)
    .option(
      '--hwaccel <name>',
      'as for run, compared with decoding on cores; auto: also with cuda alone',
      parseWord('--hwaccel', hwaccels),
    )
    .option('--no-decoders', 'do not measure the decoders of halogrid alone, which takes as long as a run')
    .option('--copies <n>', 'files per run', wholeNumber('--copies', 1, 100_000), 16)
    .option('--nodes <n>', 'node processes on the device', wholeNumber('--nodes', 1, 64), 1)
    .option('--repetitions <n>', 'runs of each, in turns', wholeNumber('--repetitions', 1, 1000), 3)
    .action(async (options) => {
      const { startFrameCluster } = await import('halogrid/frame-cluster');
      const { benchVideo } = await import('./video/bench-video.ts');
      process.stdout.write(await benchVideo(options, startFrameCluster, note));
    });
  lab
    .command('scale')
    .summary('frames on 1, 2, 4, 8 GPUs')
    .description(
      'Runs the same frames on different numbers of GPUs, a node on each, and shows how close that comes to perfect scaling ' +
        'and what limits it.',
    )
    .option('--gpus <n,…>', 'numbers of GPUs', ascendingCounts('--gpus', 64), [1, 2, 4, 8])
    .option('--frames <n>', 'frames per run', wholeNumber('--frames', 1, 1_000_000), 24_000)
    .addOption(
      new Option('--format <format>', 'jpg; pgm (gray pixels that need no decoding); mp4 (recordings, H.264)')
        .argParser(parseWord('--format', ['jpg', 'pgm', 'mp4'] as const))
        .default('jpg'),
    )
    .addOption(frameQuality())
    .option('--decode <where>', 'for JPEGs, as for run', parseWord('--decode', decodeChoices), 'auto')
    .option('--hwaccel <name>', 'for recordings, as for run', parseWord('--hwaccel', hwaccels))
    .option('--scene <file>', 'a photograph to cut the frames from (default: a synthetic scene)')
    .option('--repetitions <n>', 'runs of each number', wholeNumber('--repetitions', 1, 1000), 5)
    .action(async (options) => {
      const { startFrameCluster } = await import('halogrid/frame-cluster');
      const { benchScale } = await import('./scale/bench-scale.ts');
      process.stdout.write(await benchScale(options, startFrameCluster, note));
    });
  lab
    .command('split')
    .summary('frames divided between a GPU and the CPU')
    .description(
      'Runs the same frames with a node on the device, with one on the cpu, and with both. Shows how many frames each should ' +
        'compute according to its time alone, and how many the scheduler gave it.',
    )
    .option('--device <kind>', 'gpu or software', parseWord('--device', timedDevices), 'gpu')
    .option('--op <name[:k=v,…]>', 'the kernel', 'ldp:order=3')
    .option('--frames <n>', 'frames per run', wholeNumber('--frames', 1, 1_000_000), 2000)
    .option('--batch <n>', 'frames per shard', wholeNumber('--batch', 1, maxBatchFrames), 10)
    .addOption(frameFormat().default('pgm'))
    .addOption(frameQuality())
    .addOption(frameWidth())
    .addOption(frameHeight())
    .option('--repetitions <n>', 'runs of each', wholeNumber('--repetitions', 1, 1000), 5)
    .action(async (options) => {
      const { startFrameCluster } = await import('halogrid/frame-cluster');
      const { benchSplit } = await import('./split/bench-split.ts');
      process.stdout.write(await benchSplit(options, startFrameCluster, note));
    });
  lab
    .command('search')
    .summary('making, opening and searching an index')
    .description('Makes an index of random frames in a temporary folder and searches it.')
    .option('--frames <n>', 'frames of the index', wholeNumber('--frames', 1, 100_000_000), 1_000_000)
    .option('--kernel <name>', 'lbp (256 bins) or ldp (1024)', parseWord('--kernel', ['lbp', 'ldp'] as const), 'lbp')
    .option('--device <kind>', 'gpu, software, cpu or twin', parseWord('--device', scanDevices), 'cpu')
    .option(
      '--direct',
      'write the index directly, without the features of a job; an index that fills a GPU takes minutes otherwise',
      false,
    )
    .option('--queries <n>', 'queries in the searches that have several at once', wholeNumber('--queries', 1, 1000), 64)
    .option('--repetitions <n>', 'searches of each kind', wholeNumber('--repetitions', 1, 1000), 5)
    .action(async (options) => {
      const { benchSearch } = await import('./search/bench-search.ts');
      process.stdout.write(await benchSearch(options, note));
    });
}

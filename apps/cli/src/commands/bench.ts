import type { ReportId } from '@halogrid/bench/reports';
import { hwaccels, maxBatchFrames } from '@halogrid/proto';
import { Argument, type Command, Option } from 'commander';
import {
  ascendingCounts,
  decodeChoices,
  deviceChoices,
  parseWord,
  searchDevices,
  someOf,
  wholeNumber,
} from '../options/option-values.ts';

/** Devices whose kernels have a clock of their own. */
const timedDevices = ['gpu', 'software'] as const;
/** What searches an index. */
const scanDevices = searchDevices.filter((kind) => kind !== 'auto');
const reportIds: readonly ReportId[] = ['r1', 'r2', 'r3', 'r4', 'r5'];
const reportId = parseWord('a report', reportIds);

const frameFormat = () =>
  new Option('--format <format>', 'jpg, or pgm: gray pixels that need no decoding')
    .argParser(parseWord('--format', ['jpg', 'pgm'] as const))
    .default('jpg');

const frameQuality = () =>
  new Option('--quality <q>', 'JPEG quality').argParser(wholeNumber('--quality', 1, 100)).default(90);
const frameWidth = () =>
  new Option('--width <px>', 'width of a frame').argParser(wholeNumber('--width', 1, 32768)).default(1920);
const frameHeight = () =>
  new Option('--height <px>', 'height of a frame').argParser(wholeNumber('--height', 1, 32768)).default(1080);

/** Benchmarks are loaded when asked for: they bring WebGPU and an encoder along. */
export function addBenchCommand(program: Command): void {
  const bench = program.command('bench').description('Measures this machine.');
  bench
    .command('kernels')
    .summary('kernel times by GPU timestamps')
    .description(
      'Times the kernels by the device’s own clock, several images in rotation; beside them the CUDA programs, where nvcc is.',
    )
    .option('--device <kind>', 'gpu or software', parseWord('--device', timedDevices), 'gpu')
    .option('--width <px>', 'width of the image', wholeNumber('--width', 1, 32768), 4928)
    .option('--height <px>', 'height of the image', wholeNumber('--height', 1, 32768), 2772)
    .option('--repetitions <n>', 'samples, of which the median is taken', wholeNumber('--repetitions', 1, 1000), 40)
    .action(async (options) => {
      const { benchKernels } = await import('@halogrid/bench/kernels');
      process.stdout.write(await benchKernels(options, (line) => console.error(line)));
    });
  bench
    .command('reports')
    .summary('the tables of five reports, measured here')
    .description('Measures what five published reports measured, beside their figures, as tables, CSV and charts.')
    .addArgument(
      new Argument('[report...]', 'some of r1 r2 r3 r4 r5; all unless given').argParser(
        Object.assign((text: string, before: ReportId[] | undefined) => [...(before ?? []), reportId(text)], {
          choices: reportIds,
        }),
      ),
    )
    .option('--tables <name,…>', 'of these reports only some tables, by the names of their CSV files', (text) =>
      text.split(','),
    )
    .option('--device <kind>', 'gpu or software', parseWord('--device', timedDevices), 'gpu')
    .option('-o, --out <dir>', 'folder of the CSV files and charts', 'halogrid-out/reports')
    .option('--quick', 'sizes that a software GPU computes within seconds', false)
    .option('--repetitions <n>', 'samples in place of the report’s own number', wholeNumber('--repetitions', 1, 1000))
    .option('--cell-seconds <s>', 'leave out what takes longer', wholeNumber('--cell-seconds', 1, 86_400), 5)
    .action(async (reports: ReportId[], options) => {
      const { benchReports } = await import('@halogrid/bench/reports');
      const chosen = reports.length > 0 ? reportIds.filter((id) => reports.includes(id)) : reportIds;
      await benchReports({ reports: chosen, ...options }, (text) => process.stdout.write(text));
    });
  bench
    .command('frames')
    .summary('frames end to end against decoding alone')
    .description(
      'Runs frames through a coordinator and nodes, and decoding alone (reading, of pgm) beside it, in turns.',
    )
    .option('--device <kind>', 'as for run', parseWord('--device', deviceChoices), 'auto')
    .option('--frames <n>', 'frames a run', wholeNumber('--frames', 1, 1_000_000), 2000)
    .option('--decode <where,…>', 'as for run; several in turns', someOf('--decode', decodeChoices), ['auto'])
    .addOption(frameFormat())
    .addOption(frameQuality())
    .option('--scene <file>', 'a photograph whose parts are the frames (a synthetic scene)')
    .addOption(frameWidth())
    .addOption(frameHeight())
    .option('--nodes <n>', 'node processes on the device', wholeNumber('--nodes', 1, 64), 1)
    .option('--repetitions <n>', 'runs of each, in turns', wholeNumber('--repetitions', 1, 1000), 5)
    .action(async (options) => {
      const { startFrameCluster } = await import('../cluster/frame-cluster.ts');
      const { benchFrames } = await import('@halogrid/bench/frames');
      process.stdout.write(await benchFrames(options, startFrameCluster, (line) => console.error(line)));
    });
  bench
    .command('jpeg')
    .summary('JPEG decoding on the GPU alone')
    .description(
      'Times the decoding of JPEG frames to luma by the device’s own clock, by stage, and compares the pixels with ' +
        'libjpeg-turbo’s; then feeds a node such frames from files, without a coordinator.',
    )
    .option('--device <kind>', 'gpu or software', parseWord('--device', timedDevices), 'gpu')
    .option('--qualities <q,…>', 'JPEG qualities', ascendingCounts('--qualities', 100), [75, 90])
    .option('--scene <file>', 'a photograph whose parts are the frames (a synthetic scene)')
    .addOption(frameWidth())
    .addOption(frameHeight())
    .option(
      '--frames <n>',
      'frames that the node is fed; 0: none (default: 20000 on a GPU, else 0)',
      wholeNumber('--frames', 0, 1_000_000),
    )
    .option(
      '--decode <where,…>',
      'who decodes for the node that is fed (default: all, in turns)',
      someOf('--decode', decodeChoices),
    )
    .option('--batch <n>', 'frames decoded at once', wholeNumber('--batch', 1, 1024), 64)
    .option('--repetitions <n>', 'batches, of which the median is taken', wholeNumber('--repetitions', 1, 1000), 20)
    .action(async (options) => {
      const { benchJpeg } = await import('@halogrid/bench/jpeg');
      process.stdout.write(await benchJpeg(options, (line) => console.error(line)));
    });
  bench
    .command('scale')
    .summary('frames on 1, 2, 4, 8 GPUs')
    .description(
      'Runs the same frames with a node on each of so many GPUs, and says how near that comes to perfect scaling and what ' +
        'binds it.',
    )
    .option('--gpus <n,…>', 'numbers of GPUs', ascendingCounts('--gpus', 64), [1, 2, 4, 8])
    .option('--frames <n>', 'frames a run', wholeNumber('--frames', 1, 1_000_000), 24_000)
    .addOption(
      new Option('--format <format>', 'jpg; pgm: gray pixels that need no decoding; mp4: recordings, H.264')
        .argParser(parseWord('--format', ['jpg', 'pgm', 'mp4'] as const))
        .default('jpg'),
    )
    .addOption(frameQuality())
    .option('--decode <where>', 'JPEGs: as for run', parseWord('--decode', decodeChoices), 'auto')
    .option('--hwaccel <name>', 'recordings: as for run', parseWord('--hwaccel', hwaccels))
    .option('--scene <file>', 'a photograph whose parts are the frames (a synthetic scene)')
    .option('--repetitions <n>', 'runs of each number', wholeNumber('--repetitions', 1, 1000), 5)
    .action(async (options) => {
      const { startFrameCluster } = await import('../cluster/frame-cluster.ts');
      const { benchScale } = await import('@halogrid/bench/scale');
      process.stdout.write(await benchScale(options, startFrameCluster, (line) => console.error(line)));
    });
  bench
    .command('video')
    .summary('recordings end to end against decoding alone')
    .description(
      'Runs copies of a recording through a coordinator and nodes, and decoding alone beside it, by FFmpeg itself and by our ' +
        'decoders, in turns.',
    )
    .option('--device <kind>', 'as for run', parseWord('--device', deviceChoices), 'auto')
    .option('--clip <file>', 'a recording of yours (one is made, and kept in the user’s cache folder)')
    .option(
      '--codec <name>',
      'h264 or hevc, of the one that is made',
      parseWord('--codec', ['h264', 'hevc'] as const),
      'h264',
    )
    .option('--frames <n>', 'its frames', wholeNumber('--frames', 1, 100_000), 342)
    .option('--width <px>', 'its width', wholeNumber('--width', 16, 8192), 1920)
    .option('--height <px>', 'its height', wholeNumber('--height', 16, 8192), 1080)
    .option(
      '--hwaccel <name>',
      'as for run, measured beside cores; auto: and cuda alone',
      parseWord('--hwaccel', hwaccels),
    )
    .option('--no-decoders', 'leave out our decoders without a node, which take as long as a run')
    .option('--copies <n>', 'files of a run', wholeNumber('--copies', 1, 100_000), 16)
    .option('--nodes <n>', 'node processes on the device', wholeNumber('--nodes', 1, 64), 1)
    .option('--repetitions <n>', 'runs of each, in turns', wholeNumber('--repetitions', 1, 1000), 3)
    .action(async (options) => {
      const { startFrameCluster } = await import('../cluster/frame-cluster.ts');
      const { benchVideo } = await import('@halogrid/bench/video');
      process.stdout.write(await benchVideo(options, startFrameCluster, (line) => console.error(line)));
    });
  bench
    .command('split')
    .summary('frames divided between a GPU and the CPU')
    .description(
      'Runs the same frames with a node on the device, with one on the cpu, and with both: how many each should compute by ' +
        'their times alone, and how many the scheduler gave it.',
    )
    .option('--device <kind>', 'gpu or software', parseWord('--device', timedDevices), 'gpu')
    .option('--op <name[:k=v,…]>', 'the kernel', 'ldp:order=3')
    .option('--frames <n>', 'frames a run', wholeNumber('--frames', 1, 1_000_000), 2000)
    .option('--batch <n>', 'frames of a shard', wholeNumber('--batch', 1, maxBatchFrames), 10)
    .addOption(frameFormat().default('pgm'))
    .addOption(frameQuality())
    .addOption(frameWidth())
    .addOption(frameHeight())
    .option('--repetitions <n>', 'runs of each', wholeNumber('--repetitions', 1, 1000), 5)
    .action(async (options) => {
      const { startFrameCluster } = await import('../cluster/frame-cluster.ts');
      const { benchSplit } = await import('@halogrid/bench/split');
      process.stdout.write(await benchSplit(options, startFrameCluster, (line) => console.error(line)));
    });
  bench
    .command('search')
    .summary('an index: making, opening and searching it')
    .description('Makes an index of frames that are made up, in a temporary folder, and searches it.')
    .option('--frames <n>', 'frames of the index', wholeNumber('--frames', 1, 100_000_000), 1_000_000)
    .option('--kernel <name>', 'lbp (256 bins) or ldp (1024)', parseWord('--kernel', ['lbp', 'ldp'] as const), 'lbp')
    .option('--device <kind>', 'gpu, software, cpu or twin', parseWord('--device', scanDevices), 'cpu')
    .option(
      '--direct',
      'make the index without the features of a job: one that fills a GPU takes minutes otherwise',
      false,
    )
    .option('--queries <n>', 'queries that are also searched for at once', wholeNumber('--queries', 1, 1000), 64)
    .option('--repetitions <n>', 'searches of each kind', wholeNumber('--repetitions', 1, 1000), 5)
    .action(async (options) => {
      const { benchSearch } = await import('@halogrid/bench/search');
      process.stdout.write(await benchSearch(options, (line) => console.error(line)));
    });
}

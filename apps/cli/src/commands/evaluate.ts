import { join, resolve } from 'node:path';
import type { BorderMode } from '@halogrid/kernels';
import { createPipeline, describePipeline } from '@halogrid/kernels';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import { type DistanceName, distanceNames, evaluate, massOf, queryVector } from '@halogrid/search';
import { UsageError } from '@halogrid/service';
import { makeFolders } from '@halogrid/service/make-folders';
import type { Command } from 'commander';
import { parseJob } from '../options/job-options.ts';
import { collect, type DeviceChoice, deviceChoices, oneOf } from '../options/option-values.ts';
import { readBorder } from '../options/read-border.ts';
import { exitCodes } from '../process/exit-code.ts';
import { unlessStopped } from '../process/unless-stopped.ts';
import { createProgressView } from '../progress/follow-job.ts';
import { plural } from '../progress/quantities.ts';
import { type ClassFolder, classFolders, labelOf } from '../search/class-folders.ts';
import { describeReport, evaluationRows, type Report, reportOf } from '../search/evaluation-report.ts';
import { framesOfJob } from '../search/frames-of-job.ts';

interface EvaluateOptions {
  op?: string[];
  border?: BorderMode;
  grid: string;
  distance: DistanceName;
  device: DeviceChoice;
  out?: string;
  json?: boolean;
}

export function addEvaluateCommand(program: Command): void {
  program
    .command('evaluate')
    .summary('measure how well histograms tell labelled images apart')
    .description(
      'Compares every image of a labelled tree with every other: the ROC of a threshold on their scores, its point nearest to ' +
        '(0, 1), the recognition rate (leave one out), mean average precision, and precision at 1, 5 and 10.',
    )
    .argument('<folder>', 'a sub-folder for each class, with its images')
    .option('--op <name[:k=v,…]>', 'as of run (default: lbp)', collect)
    .option('--border <mode>', 'as of run', readBorder)
    .option('--grid <RxC>', 'compares the cells of a grid in their places', '1x1')
    .option('--distance <name>', `${distanceNames.join(', ')}`, oneOf('--distance', distanceNames), 'intersection')
    .option('--device <kind>', 'as of run', oneOf('--device', deviceChoices), 'auto')
    .option('--out <dir>', 'write evaluation.json, roc.svg and a sheet of the best five of some images there')
    .option('--json', 'as JSON')
    .action(async (folder: string, options: EvaluateOptions) => {
      await unlessStopped((signal) => evaluateFolder(resolve(folder), options, signal));
    });
}

async function evaluateFolder(
  folder: string,
  { distance, device, out, json, ...pipeline }: EvaluateOptions,
  signal: AbortSignal,
): Promise<number> {
  const classes = await classFolders(folder);
  const { spec } = parseJob(
    classes.map(({ path }) => path),
    { ...pipeline, map: 'none' },
    process.cwd(),
  );
  const view = createProgressView(process.stderr, Date.now);
  const { job, finished, frames } = await framesOfJob(spec!, device, view, signal);
  const images = frames.flatMap(({ uri, frame, bins }) => {
    if (frame > 0) throw new UsageError(`Expected images but '${uri}' is a video`);
    const label = labelOf(uri, classes);
    return label === undefined || massOf(bins) === 0
      ? []
      : [{ uri, label, vector: queryVector(finished.pipeline, bins, 'frame') }];
  });
  for (const line of notices(classes, images, frames.length)) process.stderr.write(`${line}\n`);
  const evaluation = evaluate(images, distance);
  const report = reportOf(evaluation, {
    distance,
    pipeline: describePipeline(createPipeline(spec!.pipeline!.operations)),
    grid: pipeline.grid,
  });
  const text = `${JSON.stringify(report, null, 2)}\n`;
  process.stdout.write(json ? text : describeReport(report));
  if (out !== undefined) await writeReport(out, text, report, evaluation);
  const { quarantined } = job.counts!;
  if (quarantined === 0) return exitCodes.complete;
  process.stderr.write(
    `${plural(quarantined, 'image')} left out: ${job.reasons[0]!.error} (${job.reasons[0]!.example})\n`,
  );
  return exitCodes.quarantined;
}

/** What a person should know of the images, a sentence each. */
function notices(classes: readonly ClassFolder[], images: readonly { label: string }[], computed: number): string[] {
  const sizes = Map.groupBy(images, ({ label }) => label);
  const alone = classes.filter(({ label }) => sizes.get(label)?.length === 1).map(({ label }) => label);
  const empty = classes.filter(({ label }) => !sizes.has(label)).map(({ label }) => label);
  const lines = [];
  if (alone.length > 0) lines.push(`Of one image, which is compared and no query: ${named(alone)}.`);
  if (empty.length > 0) lines.push(`Without an image: ${named(empty)}.`);
  if (images.length < computed)
    lines.push(`${plural(computed - images.length, 'image')} without a pixel that is counted left out.`);
  return lines;
}

const named = (labels: readonly string[]): string =>
  labels.length <= 5 ? labels.join(', ') : `${labels.slice(0, 5).join(', ')} and ${labels.length - 5} more`;

async function writeReport(
  out: string,
  text: string,
  report: Report,
  evaluation: ReturnType<typeof evaluate>,
): Promise<void> {
  const [{ contactSheet }, { rocSvg }] = await Promise.all([
    import('@halogrid/results/contact-sheet'),
    import('@halogrid/results/roc-svg'),
  ]);
  await makeFolders(out);
  const subtitle = [
    report.pipeline,
    `grid ${report.grid}, ${report.distance}; area below the curve ${report.auc.toFixed(4)}`,
  ];
  const title = `${report.images} images of ${report.classes} classes`;
  await writeFileAtomically(join(out, 'evaluation.json'), text);
  await writeFileAtomically(join(out, 'roc.svg'), rocSvg({ title, subtitle, points: evaluation.roc, best: report }));
  await writeFileAtomically(join(out, 'top-5.png'), await contactSheet(evaluationRows(evaluation)));
  process.stderr.write(`Written: evaluation.json, roc.svg and top-5.png in ${out}.\n`);
}

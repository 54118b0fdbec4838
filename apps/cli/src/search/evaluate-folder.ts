import { join } from 'node:path';
import { type BorderMode, createPipeline, describePipeline } from '@halogrid/kernels';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import { type DistanceName, evaluate, massOf, queryVector } from '@halogrid/search';
import { UsageError } from '@halogrid/service';
import { makeFolders } from '@halogrid/service/make-folders';
import { parseJob } from '../options/job-options.ts';
import type { DeviceChoice } from '../options/option-values.ts';
import { exitCodes } from '../process/exit-code.ts';
import { createProgressView } from '../progress/follow-job.ts';
import { plural } from '../progress/quantities.ts';
import { type ClassFolder, classFolders, labelOf } from './class-folders.ts';
import { describeReport, evaluationRows, type Report, reportOf } from './evaluation-report.ts';
import { framesOfJob } from './frames-of-job.ts';

export interface EvaluateOptions {
  op?: string[];
  border?: BorderMode;
  grid: string;
  distance: DistanceName;
  device: DeviceChoice;
  out?: string;
  json?: boolean;
}

/** Prints how well the histograms of this labelled tree tell its classes apart, and resolves to the exit code. */
export async function evaluateFolder(
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

import { join } from 'node:path';
import { type BorderMode, describePipeline } from '@halogrid/kernels';
import type { JobSpec, JobStatus } from '@halogrid/proto';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import {
  type DistanceName,
  type Evaluation,
  evaluate,
  type FinishedJob,
  type LabelledImage,
  massOf,
  narrowCounts,
  queryVector,
} from '@halogrid/search';
import { UsageError } from '@halogrid/service';
import { makeFolders } from '@halogrid/service/make-folders';
import { anotherFolder, writing } from '@halogrid/service/system-errors';
import { parseJob } from '../options/job-options.ts';
import type { DeviceChoice } from '../options/option-values.ts';
import { specPipelines } from '../options/spec-pipelines.ts';
import { exitCodes } from '../process/exit-code.ts';
import { createProgressView } from '../progress/follow-job.ts';
import { plural } from '../progress/quantities.ts';
import { type BlockSize, blockGrid } from './block-grid.ts';
import { type ClassFolder, classFolders, classOf } from './class-folders.ts';
import { describeReports, type EvaluationReport, evaluationRows, reportOf } from './evaluation-report.ts';
import { type ComputedFrame, type ComputedJob, framesOfJob } from './frames-of-job.ts';

export interface EvaluateOptions {
  op?: string[];
  pipeline?: string[];
  border?: BorderMode;
  /** RxC, or several with commas between them. */
  grid?: string;
  block?: BlockSize;
  /** The distances to compare by (default: intersection). */
  distance?: DistanceName[];
  device: DeviceChoice;
  out?: string;
  json?: boolean;
}

/** The evaluation of one pipeline, grid and distance. */
interface Evaluated {
  report: EvaluationReport;
  evaluation: Evaluation;
}

/** Prints how well histograms distinguish the classes of this labelled tree, and resolves with the exit code. */
export async function evaluateFolder(folder: string, options: EvaluateOptions, signal: AbortSignal): Promise<number> {
  const classes = await classFolders(folder);
  const view = createProgressView(process.stderr, Date.now);
  const run = async (grid: string): Promise<ComputedJob & { spec: JobSpec }> => {
    const { op, pipeline, border } = options;
    const paths = classes.map(({ path }) => path);
    const spec = parseJob(paths, { op, pipeline, border, grid, map: 'none' }, process.cwd()).spec!;
    return { spec, ...(await framesOfJob(spec, options.device, view, signal)) };
  };
  const found: Evaluated[] = [];
  let quarantined = 0;
  for (const grid of await gridsOf(options, run)) {
    const { spec, job, parts } = await run(grid);
    const pipelines = specPipelines(spec);
    for (const [i, { finished, frames }] of parts.entries()) {
      const images = labelled(frames, classes, finished);
      if (found.length === 0)
        for (const line of notices(classes, images, frames.length)) process.stderr.write(`${line}\n`);
      for (const distance of options.distance ?? ['intersection' as const]) {
        const evaluation = evaluate(images, distance);
        const { name, pipeline } = pipelines[i]!;
        const how = { name: name || undefined, pipeline: describePipeline(pipeline), grid, distance };
        found.push({ evaluation, report: reportOf(evaluation, how) });
      }
    }
    if (job.counts!.quarantined > 0 && quarantined === 0) process.stderr.write(leftOut(job));
    quarantined = job.counts!.quarantined;
  }
  const reports = found.map(({ report }) => report);
  const text = `${JSON.stringify(reports.length === 1 ? reports[0] : reports, null, 2)}\n`;
  process.stdout.write(options.json ? text : describeReports(reports));
  const { out } = options;
  if (out !== undefined) await writing(out, anotherFolder, () => writeReports(out, text, found));
  return quarantined === 0 ? exitCodes.complete : exitCodes.quarantined;
}

/** The grids that the options ask for. With --block, a job over the images finds their size first. */
async function gridsOf(
  { grid, block }: EvaluateOptions,
  run: (grid: string) => Promise<ComputedJob>,
): Promise<string[]> {
  if (!block) return (grid ?? '1x1').split(',');
  if (grid !== undefined) throw new UsageError('Expected --grid or --block but received both');
  const { rows, columns } = blockGrid((await run('1x1')).images, block);
  return [`${rows}x${columns}`];
}

/** The images that have counted pixels, with their classes. */
function labelled(
  frames: readonly ComputedFrame[],
  classes: readonly ClassFolder[],
  { pipeline }: FinishedJob,
): LabelledImage[] {
  return frames.flatMap(({ uri, frame, bins }) => {
    if (frame > 0) throw new UsageError(`Expected images but '${uri}' is a video`);
    const label = classOf(uri, classes);
    if (label === undefined || massOf(bins) === 0) return [];
    const { bins: counts, mass } = queryVector(pipeline, bins, 'frame');
    return [{ uri, label, vector: { bins: narrowCounts(counts), mass } }];
  });
}

function leftOut({ counts, reasons }: JobStatus): string {
  return `${plural(counts!.quarantined, 'image')} left out: ${reasons[0]!.error} (${reasons[0]!.example})\n`;
}

/** Notes on the images, a sentence each. */
function notices(classes: readonly ClassFolder[], images: readonly { label: string }[], computed: number): string[] {
  const sizes = Map.groupBy(images, ({ label }) => label);
  const alone = classes.filter(({ label }) => sizes.get(label)?.length === 1).map(({ label }) => label);
  const empty = classes.filter(({ label }) => !sizes.has(label)).map(({ label }) => label);
  const lines = [];
  if (alone.length > 0) lines.push(`Classes with one image, which is compared but is not a query: ${named(alone)}.`);
  if (empty.length > 0) lines.push(`Classes without an image to compare: ${named(empty)}.`);
  if (images.length < computed) lines.push(`${plural(computed - images.length, 'image')} left out: no counted pixels.`);
  return lines;
}

const named = (labels: readonly string[]): string =>
  labels.length <= 5 ? labels.join(', ') : `${labels.slice(0, 5).join(', ')} and ${labels.length - 5} more`;

/**
 * Writes the figures, and a curve and a contact sheet for each evaluation. With several, file names are numbered in the
 * order of the figures.
 */
async function writeReports(out: string, text: string, found: readonly Evaluated[]): Promise<void> {
  const [{ contactSheet }, { rocSvg }] = await Promise.all([
    import('@halogrid/results/contact-sheet'),
    import('@halogrid/results/roc-svg'),
  ]);
  await makeFolders(out);
  await writeFileAtomically(join(out, 'evaluation.json'), text);
  for (const [i, { report, evaluation }] of found.entries()) {
    const number = found.length === 1 ? '' : `-${i + 1}`;
    const subtitle = [
      report.pipeline,
      `grid ${report.grid}, ${report.distance}; area below the curve ${report.auc.toFixed(4)}`,
    ];
    const title = `${report.images} images of ${report.classes} classes`;
    const curve = rocSvg({ title, subtitle, points: evaluation.roc, best: report });
    await writeFileAtomically(join(out, `roc${number}.svg`), curve);
    await writeFileAtomically(join(out, `top-5${number}.png`), await contactSheet(evaluationRows(evaluation)));
  }
  const names =
    found.length === 1
      ? 'roc.svg and top-5.png'
      : `roc-1.svg to roc-${found.length}.svg and top-5-1.png to top-5-${found.length}.png`;
  process.stderr.write(`Written: evaluation.json, ${names} in ${out}.\n`);
}

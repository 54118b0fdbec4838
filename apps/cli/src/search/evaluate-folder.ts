import { type BorderMode, describePipeline } from '@halogrid/kernels';
import { type DistanceName, evaluate, massOf, queryVector } from '@halogrid/search';
import { UsageError } from '@halogrid/service';
import { parseJob } from '../options/job-options.ts';
import type { DeviceChoice } from '../options/option-values.ts';
import { specPipelines } from '../options/spec-pipelines.ts';
import { exitCodes } from '../process/exit-code.ts';
import { createProgressView } from '../progress/follow-job.ts';
import { plural } from '../progress/quantities.ts';
import { type ClassFolder, classFolders, labelOf } from './class-folders.ts';
import { describeReports, type Evaluated, type Report, reportOf, reportsOf } from './evaluation-report.ts';
import { type ComputedJob, framesOfPipelines } from './frames-of-job.ts';

export interface EvaluateOptions {
  op?: string[];
  pipeline?: string[];
  border?: BorderMode;
  grid: string;
  distance: DistanceName;
  device: DeviceChoice;
  out?: string;
  json?: boolean;
}

/** Prints how well the histograms of this labelled tree tell its classes apart, by each pipeline, and resolves to the exit code. */
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
  const computed = await framesOfPipelines(spec!, device, view, signal);
  const pipelines = specPipelines(spec!).map(({ pipeline: its }) => describePipeline(its));
  const evaluated = computed.map((one, i) => {
    return evaluatePipeline(one, classes, { distance, pipeline: pipelines[i]!, grid: pipeline.grid });
  });
  for (const line of sharedNotices(evaluated)) process.stderr.write(`${line}\n`);
  const text = `${JSON.stringify(reportsOf(evaluated), null, 2)}\n`;
  process.stdout.write(json ? text : describeReports(evaluated));
  if (out !== undefined) {
    const { writeEvaluations } = await import('./write-evaluations.ts');
    process.stderr.write(`${await writeEvaluations(out, evaluated)}\n`);
  }
  const { counts, reasons } = computed[0]!.job;
  const { quarantined } = counts!;
  if (quarantined === 0) return exitCodes.complete;
  process.stderr.write(`${plural(quarantined, 'image')} left out: ${reasons[0]!.error} (${reasons[0]!.example})\n`);
  return exitCodes.quarantined;
}

type PipelineEvaluation = Evaluated & { notices: string[] };

function evaluatePipeline(
  { name, finished, frames }: ComputedJob,
  classes: readonly ClassFolder[],
  how: Pick<Report, 'distance' | 'pipeline' | 'grid'> & { distance: DistanceName },
): PipelineEvaluation {
  const images = frames.flatMap(({ uri, frame, bins }) => {
    if (frame > 0) throw new UsageError(`Expected images but '${uri}' is a video`);
    const label = labelOf(uri, classes);
    return label === undefined || massOf(bins) === 0
      ? []
      : [{ uri, label, vector: queryVector(finished.pipeline, bins, 'frame') }];
  });
  const evaluation = evaluate(images, how.distance);
  return { name, evaluation, report: reportOf(evaluation, how), notices: notices(classes, images, frames.length) };
}

/** What holds for all pipelines is said once. */
function sharedNotices(evaluated: readonly PipelineEvaluation[]): string[] {
  const areShared = (line: string) => evaluated.every((one) => one.notices.includes(line));
  const lines = evaluated.flatMap(({ name, notices }) => {
    return notices.map((line) => (areShared(line) ? line : `${name}: ${line}`));
  });
  return [...new Set(lines)];
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

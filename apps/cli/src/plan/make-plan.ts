import { stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { itemBytes, mostOf, type PassThrough, type PlanTotals } from '@halogrid/coordinator/plan';
import type { JobSpec, QuarantineReason } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { describeBytes } from '@halogrid/service/describe-bytes';
import { coresHere } from '@halogrid/threads/limits';
import { specPipelines } from '../options/spec-pipelines.ts';
import { estimateTime } from './estimate/estimate-time.ts';
import type { RunCosts } from './estimate/remember-run.ts';
import { readRuns } from './estimate/run-records.ts';
import { expectedDevice, slowdownNow, thisMachine } from './estimate/this-machine.ts';
import { tileAdvice } from './estimate/tile-advice.ts';
import { type Parts, startSeconds, workParts } from './estimate/work-parts.ts';
import { type JobPlan, jobPlan, type PlannedRun } from './job-plan.ts';

/** A plan with its notes. */
export interface MadePlan {
  plan: JobPlan;
  /** Sentences about what it leaves out. */
  notes: string[];
  /** Why inputs are quarantined, the most frequent reason first. */
  quarantine: QuarantineReason[];
}

/**
 * Plans a job in this process. `onCosts` is called before the plan is complete: with what a run remembers, with totals
 * that grow, and with a function that gives advice on the totals so far. Throws UsageError if the plan is refused or
 * does not fit, and if recordings have more segments than `mostSegments`; throws the reason of the signal. `through` is
 * as in surveyJob.
 */
export async function makePlan(
  given: JobSpec,
  run: PlannedRun,
  signal?: AbortSignal,
  onCosts: (costs: RunCosts, soFar: Readonly<PlanTotals>, advise: () => string | undefined) => void = () => {},
  mostSegments?: number,
  through?: PassThrough,
): Promise<MadePlan> {
  const { checkedSpec, surveyJob } = await import('@halogrid/coordinator/plan');
  const spec = given.band?.all ? await checkedSpec(given) : given;
  const notes: string[] = [];
  const { mapFormat } = spec;
  const setup = { pipelines: pipelinesOf(spec), mapFormat, nodes: run.nodes, cores: coresHere() };
  const slowdown = slowdownNow(run.ownThreads);
  const runs = await readRuns(thisMachine());
  const device = expectedDevice(run.device, runs);
  const adviceOn = (totals: PlanTotals, parts: Parts, isPart: boolean) =>
    spec.tilePx ? tileAdvice(totals, parts, spec.tilePx, isPart) : undefined;
  const begin = (soFar: PlanTotals): void =>
    onCosts({ totals: soFar, setup, slowdown }, soFar, () => adviceOn(soFar, workParts(soFar, setup, device), true));
  const totals = await surveyJob(spec, signal, (note) => notes.push(note), begin, mostSegments, through);
  await checkFits(totals, spec);
  const parts = workParts(totals, setup, device);
  const estimate = estimateTime({ parts, device, startSeconds: startSeconds(setup) }, runs, await slowdown);
  const advice = adviceOn(totals, parts, false);
  return { plan: jobPlan(totals, run, { estimate, advice }), notes, quarantine: totals.quarantine };
}

const pipelinesOf = (spec: JobSpec) => specPipelines(spec).map(({ pipeline }) => pipeline);

/** The largest buffer that any WebGPU device or the cpu device may have. */
const largestBufferBytes = 2 ** 31 - 256;

/** Sides of tiles that are tried as a remedy. */
const triedTilesPx = [16384, 8192, 4096, 2048, 1024, 512, 256];

/**
 * Throws UsageError, with a sentence that says what would fit, if no device or not the disk of `--out` has room for the
 * job.
 */
async function checkFits(totals: PlanTotals, spec: JobSpec): Promise<void> {
  checkLargest(totals, spec);
  // Shares have results in folders of their own.
  if (!spec.out.startsWith('file:') || spec.share) return;
  const folder = fileURLToPath(spec.out);
  // A job that continues in this folder has some results on the disk already, and waits for room for the rest.
  if (await stat(join(folder, '.halogrid')).catch(() => undefined)) return;
  const { path, freeBytes } = await freeSpace(folder);
  checkDisk(totals, spec, path, freeBytes);
}

export function checkLargest({ largest }: PlanTotals, spec: JobSpec): void {
  const bytes = mostOf(largest);
  if (bytes <= largestBufferBytes) return;
  const needs = `A tile of ${largest.width} x ${largest.height} pixels and its results take ${describeBytes(bytes)} at once`;
  const fits = triedTilesPx.find((px) => px < Math.max(largest.width, largest.height) && tileFits(px, largest, spec));
  const wayOut = fits ? `--tile ${fits} fits` : 'a smaller grid or another kernel is needed';
  throw new UsageError(`${needs}, and no device takes more than ${describeBytes(largestBufferBytes)}: ${wayOut}`);
}

function tileFits(px: number, { width, height }: PlanTotals['largest'], spec: JobSpec): boolean {
  const rect = { x: 0, y: 0, width: Math.min(px, width), height: Math.min(px, height) };
  const grid = { rows: spec.grid?.rows || 1, columns: spec.grid?.columns || 1 };
  const { stagingBytes, resultsBytes, mapBytes } = itemBytes(pipelinesOf(spec), rect, { width, height }, grid);
  return mostOf({ stagingBytes, resultsBytes: resultsBytes + mapBytes }) <= largestBufferBytes;
}

/**
 * Throws UsageError if the results do not fit. Only uncompressed files count, so that nothing is refused that would
 * fit.
 */
export function checkDisk(totals: PlanTotals, { mapFormat }: JobSpec, path: string, freeBytes: number): void {
  const { output, scratchBytes } = totals;
  const isStored = mapFormat === 'tiff' || mapFormat === 'zarr';
  const neededBytes = scratchBytes + (isStored ? output.mapsBytes : 0);
  if (neededBytes <= freeBytes) return;
  throw new UsageError(
    `The results take ${describeBytes(neededBytes)} until they are complete, and '${path}' has ${describeBytes(freeBytes)} ` +
      `free: --map none takes ${describeBytes(output.featuresBytes + output.histogramBytes)} at most`,
  );
}

/** The free bytes of a folder, or of the nearest folder above it that exists. */
async function freeSpace(folder: string): Promise<{ path: string; freeBytes: number }> {
  for (let path = folder; ; path = dirname(path)) {
    try {
      const { bavail, bsize } = await statfs(path);
      return { path, freeBytes: bavail * bsize };
    } catch (error) {
      if (path === dirname(path)) throw error;
    }
  }
}

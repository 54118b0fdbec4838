import type { ReadOptions, SampleScale } from '@halogrid/imaging';
import { createPipeline, describePipeline, overBands, type Pipeline, specifiedOperations } from '@halogrid/kernels';
import { parseLevel } from '@halogrid/proto/level';
import { IndexError } from './index-error.ts';

/** All that decides the histograms of an image: histograms may be compared only if all of it is equal. */
export interface PipelineIdentity {
  /** As a job's specification has them, parameters complete. */
  readonly operations: readonly { kernel: string; parameters: Record<string, string>; border: string }[];
  readonly grid: { readonly rows: number; readonly columns: number };
  /** The bands of images that were read; absent: their gray or colours. */
  readonly bands?: readonly number[];
  /** How samples became pixels, if they were scaled; absent: they were pixels. */
  readonly scale?: SampleScale;
  /** The level of pyramids that was read, as a job names it; absent: the largest. */
  readonly level?: string;
  /** The page of stacks that was read, if a job names it; absent: the first. */
  readonly page?: number;
  readonly channels: readonly string[];
  /** Bins of a channel. */
  readonly bins: number;
  readonly convention: string;
  readonly resultsVersion: number;
}

/** What is compared: histograms of frames, with all their cells one after another, or histograms of single cells. */
export type Unit = 'frame' | 'cell';

/** The part of a job's specification that decides its histograms. */
export interface PipelineSpecification {
  readonly pipeline: { readonly operations: PipelineIdentity['operations'] };
  readonly grid?: PipelineIdentity['grid'];
  readonly band?: { readonly numbers?: readonly number[] };
  readonly scale?: { readonly min?: number; readonly max?: number; readonly bits?: number };
  readonly level?: string;
  readonly page?: number;
}

/** The identity of a job's pipeline. Throws IndexError if it has no histogram. */
export function identityOf(
  { pipeline: { operations }, grid: asked, band, scale, level, page }: PipelineSpecification,
  resultsVersion: number,
): PipelineIdentity {
  const bands = band?.numbers;
  const pipeline = overBands(bands ?? [], createPipeline(operations));
  const { bins, convention, output } = pipeline;
  if (bins === 0) throw new IndexError(`'${describePipeline(pipeline)}' has no histogram to search by`);
  const grid = { rows: asked?.rows || 1, columns: asked?.columns || 1 };
  return {
    operations: specifiedOperations(pipeline),
    grid,
    ...(bands && { bands }),
    ...(scale && { scale: { min: scale.min ?? 0, max: scale.max ?? 0, bits: scale.bits || 8 } }),
    ...(level && { level }),
    ...(page && { page }),
    channels: [...output.channels],
    bins,
    convention,
    resultsVersion,
  };
}

/** What computes the histograms. */
export const pipelineOf = ({ operations, bands = [] }: Pick<PipelineIdentity, 'operations' | 'bands'>): Pipeline =>
  overBands(bands, createPipeline(operations));

/** What is read of images for these histograms. */
export function readOf({ bands, scale, level, page }: PipelineIdentity): ReadOptions {
  return { band: bands && { numbers: bands }, scale, level: parseLevel(level ?? ''), page };
}

/** The kernels in one line, with the bands if there are several. */
export const pipelineLine = (identity: PipelineIdentity): string => describePipeline(pipelineOf(identity));

/**
 * The differences between two identities, a clause each, as in `radius is 2 there and 1 here`; empty if their
 * histograms may be compared.
 */
export function differences(there: PipelineIdentity, here: PipelineIdentity): string[] {
  const [theirs, ours] = [factsOf(there), factsOf(here)];
  const names = [...new Set([...theirs.keys(), ...ours.keys()])];
  const different = names.filter((name) => theirs.get(name) !== ours.get(name));
  return different.map(
    (name) => `${name} is ${theirs.get(name) ?? 'not set'} there and ${ours.get(name) ?? 'not set'} here`,
  );
}

function factsOf({
  operations,
  grid,
  bands,
  scale,
  level,
  page,
  channels,
  bins,
  resultsVersion,
}: PipelineIdentity): Map<string, string> {
  const facts = new Map([['kernels', operations.map(({ kernel }) => kernel).join(' > ')]]);
  operations.forEach(({ parameters, border }, i) => {
    const of = operations.length > 1 ? ` of kernel ${i + 1}` : '';
    facts.set(`border${of}`, border);
    for (const [name, value] of Object.entries(parameters)) facts.set(`${name}${of}`, value);
  });
  facts.set('grid', `${grid.rows}x${grid.columns}`);
  if (bands) facts.set('band', bands.join(','));
  if (scale) facts.set('scale', Object.values(scale).join(','));
  if (level) facts.set('level', level);
  if (page) facts.set('page', String(page));
  facts.set('channels', channels.join(' '));
  facts.set('bins', String(bins));
  return facts.set('results version', String(resultsVersion));
}

/** Counts of a cell, channels one after another. */
export const countsOfCell = ({ channels, bins }: PipelineIdentity): number => channels.length * bins;

export const cellsOfGrid = ({ grid }: PipelineIdentity): number => grid.rows * grid.columns;

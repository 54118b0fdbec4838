import { createPipeline, describePipeline, specifiedOperations } from '@halogrid/kernels';
import { IndexError } from './index-error.ts';

/** All that decides the histograms of an image: histograms may be compared only if all of it is equal. */
export interface PipelineIdentity {
  /** As a job's specification has them, parameters complete. */
  readonly operations: readonly { kernel: string; parameters: Record<string, string>; border: string }[];
  readonly grid: { readonly rows: number; readonly columns: number };
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
}

/** The identity of a job's pipeline. Throws IndexError if it has no histogram. */
export function identityOf(
  { pipeline: { operations }, grid: asked }: PipelineSpecification,
  resultsVersion: number,
): PipelineIdentity {
  const pipeline = createPipeline(operations);
  const { bins, convention, output } = pipeline;
  if (bins === 0) throw new IndexError(`'${describePipeline(pipeline)}' has no histogram to search by`);
  const grid = { rows: asked?.rows || 1, columns: asked?.columns || 1 };
  return {
    operations: specifiedOperations(pipeline),
    grid,
    channels: [...output.channels],
    bins,
    convention,
    resultsVersion,
  };
}

/** The kernels in one line. */
export const pipelineLine = ({ operations }: PipelineIdentity): string => describePipeline(createPipeline(operations));

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

function factsOf({ operations, grid, channels, bins, resultsVersion }: PipelineIdentity): Map<string, string> {
  const facts = new Map([['kernels', operations.map(({ kernel }) => kernel).join(' > ')]]);
  operations.forEach(({ parameters, border }, i) => {
    const of = operations.length > 1 ? ` of kernel ${i + 1}` : '';
    facts.set(`border${of}`, border);
    for (const [name, value] of Object.entries(parameters)) facts.set(`${name}${of}`, value);
  });
  facts.set('grid', `${grid.rows}x${grid.columns}`);
  facts.set('channels', channels.join(' '));
  facts.set('bins', String(bins));
  return facts.set('results version', String(resultsVersion));
}

/** Counts of a cell, channels one after another. */
export const countsOfCell = ({ channels, bins }: PipelineIdentity): number => channels.length * bins;

export const cellsOfGrid = ({ grid }: PipelineIdentity): number => grid.rows * grid.columns;

import { sampleBytes } from '@halogrid/geometry';
import type { Operation } from '../kernel/operation.ts';
import { addTransposes } from '../kernel/pairs.ts';
import type { DenseResult, ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import { lineOf, type Programs } from '../registry.ts';
import { countedOf, countIncluded } from './count-included.ts';
import type { Pipeline } from './pipeline.ts';
import { type PipelineItem, restrict } from './pipeline-item.ts';
import { sampleResult } from './sampling.ts';

/** Computes one item on this thread, kernel after kernel, with the programs of their names. */
export function runPipeline(
  programs: Programs,
  pipeline: Pipeline,
  bytes: Uint8Array,
  item: PipelineItem,
  withMap: boolean,
): ItemResult {
  const { operations } = pipeline;
  const runKernel = (operation: Operation, ...rest: [Uint8Array, PlaneItem, boolean]): ItemResult => {
    const { line: run, operation: its } = lineOf(programs, operation);
    const result = run(its, ...rest);
    if (operation.pairs?.isSymmetric) addTransposes(result.bins, operation.pairs.levels);
    return result;
  };
  if (!withMap && pipeline.bins === 0) return uncomputed(pipeline, item);
  let source = bytes;
  let { offset, stride, planeBytes } = item;
  for (const [i, operation] of operations.slice(0, -1).entries()) {
    const { map } = runKernel(operation, source, { offset, stride, planeBytes, ...item.stages[i]! }, true);
    source = map!.bytes;
    offset = 0;
    stride = map!.stride;
    planeBytes = map!.bandBytes;
  }
  const last = operations.at(-1)!;
  const { sampling } = item;
  const plane = { offset, stride, planeBytes, ...item.stages.at(-1)!, sampling };
  const sampled = (map: DenseResult | undefined): DenseResult | undefined => {
    if (!map || !sampling || map.isSampled) return map;
    return sampleResult(map, sampling, sampleBytes[pipeline.output.sample], pipeline.output.channels.length);
  };
  if (item.excluded) {
    const { map } = runKernel(last, source, { ...plane, sampling: undefined }, true);
    const result = countIncluded(pipeline, plane, item.parts, item.excluded, map!);
    return { ...result, map: withMap ? sampled(map) : undefined };
  }
  if (item.parts.length === 1) {
    const result = runKernel(last, source, plane, withMap);
    return { ...result, map: sampled(result.map) };
  }

  const binsAPart = pipeline.bins * pipeline.output.channels.length;
  const bins = new Uint32Array(item.parts.length * binsAPart);
  let counted = 0;
  for (const [i, part] of item.parts.entries()) {
    const found = runKernel(last, source, restrict(plane, part), false);
    bins.set(found.bins, i * binsAPart);
    counted += found.counted;
  }
  return { counted, bins, map: withMap ? sampled(runKernel(last, source, plane, true).map) : undefined };
}

/** The result if neither counts nor a dense result are wanted: nothing needs to be computed. */
function uncomputed(pipeline: Pipeline, { offset, stride, planeBytes, stages, excluded }: PipelineItem): ItemResult {
  const plane = { offset, stride, planeBytes, ...stages.at(-1)! };
  return { counted: countedOf(pipeline, plane, excluded), bins: new Uint32Array(0) };
}

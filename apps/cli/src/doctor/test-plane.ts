import { createPipeline, type Pipeline, type PipelineItem, placeItem, planPipeline } from '@halogrid/kernels';

/** A plane small enough to compute at once, of a size that is a multiple of nothing a device likes. */
export const testSize = { width: 127, height: 93 };

export interface TestPlane {
  pipeline: Pipeline;
  item: PipelineItem;
  /** Staging memory with the plane in it. */
  bytes: Uint8Array;
}

/** A known plane to try a device on: LBP with reflected borders, so that the halo is tried too. */
export function testPlane(): TestPlane {
  const pipeline = createPipeline([{ kernel: 'lbp', parameters: {}, border: 'reflect' }]);
  const plan = planPipeline(pipeline, { x: 0, y: 0, ...testSize }, testSize);
  const { item, end } = placeItem(plan, 1, 0);
  const bytes = new Uint8Array(end);
  // The upper bytes of a linear congruential generator (Numerical Recipes): random enough for every code to occur.
  for (let i = 0, state = 1; i < bytes.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return { pipeline, item, bytes };
}

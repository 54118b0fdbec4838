import { createPipeline, type Pipeline, type PlaneItem, placeItem, planRead } from '@halogrid/kernels';

/** A plane small enough to compute at once, of a size that is a multiple of nothing a device likes. */
const size = { width: 61, height: 37 };

export interface TestPlane {
  pipeline: Pipeline;
  item: PlaneItem;
  /** Staging memory with the plane in it. */
  bytes: Uint8Array;
}

/** A known plane to try a device on: LBP with reflected borders, so that the halo is tried too. */
export function testPlane(): TestPlane {
  const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }], 'reflect');
  const whole = { x: 0, y: 0, ...size };
  const { item, end } = placeItem(planRead(whole, size, pipeline.halo, pipeline.border), 0);
  const bytes = new Uint8Array(end);
  // The multipliers are coprime with 251: every code of the kernel occurs.
  for (let i = 0; i < bytes.length; i++) bytes[i] = ((i * 167 + (i >> 3) * 89) ^ (i >> 5)) % 251;
  return { pipeline, item, bytes };
}

import type { Rect } from '@halogrid/geometry';
import { refuseValue } from '@halogrid/jobs/refusal';
import type { FramesQuery, RegionQuery } from '@halogrid/proto';

/** The most frames in one answer. */
const maxCount = 200;
/** Sides of images are below this. */
const maxSide = 2 ** 31 - 1;

/** How many frames a query asks for, and how far apart. Throws Refusal. */
export function readFrameSteps({ step, count }: FramesQuery): { step: number; count: number } {
  return { step: numberIn('step', step || 1, 1, maxSide), count: numberIn('count', count || 50, 1, maxCount) };
}

/** Which frame a query asks for. Throws Refusal. */
export const readIndex = ({ index }: { index?: number | undefined }): number => numberIn('index', index, 0, maxSide);

/** How large a picture may be, and which region it shows; undefined: the whole source. Throws Refusal. */
export function readPart(query: RegionQuery): { side: number; region?: Rect } {
  const side = numberIn('side', query.side, 16, 2048);
  if (query.x === undefined) return { side };
  const [x, y] = [numberIn('x', query.x, 0, maxSide), numberIn('y', query.y, 0, maxSide)];
  const [width, height] = [numberIn('width', query.width, 1, maxSide), numberIn('height', query.height, 1, maxSide)];
  return { side, region: { x, y, width, height } };
}

function numberIn(name: string, value: number | undefined, least: number, most: number): number {
  if (value !== undefined && value >= least && value <= most) return value;
  return refuseValue(name, value ?? '', `a whole number from ${least} to ${most}`);
}

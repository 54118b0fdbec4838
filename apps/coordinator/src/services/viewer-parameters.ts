import type { Rect } from '@halogrid/geometry';
import { refuseValue } from '../job/refusal.ts';

/** Frames that are told at once, at most. */
const maxCount = 200;
/** Sides of images are below this. */
const maxSide = 2 ** 31 - 1;

/** Frames from the one with that number or, where `uri` is there, from that one on. */
export interface AskedFrames {
  from: number;
  uri?: string;
  /** The number of a frame of the video `uri`. */
  frame: number;
  step: number;
  count: number;
}

/** Which frames a query asks for: `from`, or `uri` and `frame`; `step` and `count`. Throws Refusal. */
export function readFrames(query: URLSearchParams): AskedFrames {
  const uri = query.get('uri');
  return {
    from: numberOf(query, 'from', 0, maxSide, 0),
    ...(uri !== null && { uri }),
    frame: numberOf(query, 'frame', 0, maxSide, 0),
    step: numberOf(query, 'step', 1, maxSide, 1),
    count: numberOf(query, 'count', 1, maxCount, 50),
  };
}

/** Which frame a query asks for. Throws Refusal. */
export const readIndex = (query: URLSearchParams): number => numberOf(query, 'index', 0, maxSide);

/** How large a picture may be, and of which part, unless of all. Throws Refusal. */
export function readPart(query: URLSearchParams): { side: number; region?: Rect } {
  const side = numberOf(query, 'side', 16, 2048);
  if (!query.has('x')) return { side };
  const [x, y] = [numberOf(query, 'x', 0, maxSide), numberOf(query, 'y', 0, maxSide)];
  const [width, height] = [numberOf(query, 'width', 1, maxSide), numberOf(query, 'height', 1, maxSide)];
  return { side, region: { x, y, width, height } };
}

function numberOf(query: URLSearchParams, name: string, least: number, most: number, otherwise?: number): number {
  const text = query.get(name);
  if (text === null && otherwise !== undefined) return otherwise;
  const value = /^\d{1,10}$/.test(text ?? '') ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  return refuseValue(name, text ?? '', `a whole number from ${least} to ${most}`);
}

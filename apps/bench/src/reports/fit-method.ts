import { warmUps } from '../timing/time-strategies.ts';
import type { Method } from './report.ts';

/**
 * As many samples as fit into `cellMs` where one takes about `estimateMs`: every image has warm-ups of its own. Undefined
 * where none fits; all where nothing is known of how long one takes.
 */
export function fitMethod(method: Method, estimateMs: number | undefined, cellMs: number): Method | undefined {
  if (estimateMs === undefined) return method;
  const runs = Math.floor(cellMs / estimateMs);
  const images = Math.min(method.images, Math.floor(runs / (warmUps + 1)));
  if (images < 1) return undefined;
  return { images, repetitions: Math.min(method.repetitions, Math.floor(runs / images) - warmUps) };
}

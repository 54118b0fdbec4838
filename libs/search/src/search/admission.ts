import type { Catalog } from '../store/catalog.ts';
import type { BlockPlace } from '../store/read-block.ts';
import { noText, textAt } from '../store/row-columns.ts';

/**
 * Which frames are asked for. A frame whose time or camera is not known does not pass a filter of times or of a camera.
 */
export interface Filter {
  /** The first and the last moment, in milliseconds since 1970. */
  sinceMs?: number;
  untilMs?: number;
  camera?: string;
}

/** Whether the filter passes all frames. */
export const admitsAll = ({ sinceMs, untilMs, camera }: Filter): boolean =>
  sinceMs === undefined && untilMs === undefined && camera === undefined;

/** A function that tells which frames of a block are asked for, by their number in the block; undefined if none is. */
export function admission(
  catalog: Catalog,
  { segment, from, frames }: BlockPlace,
  filter: Filter,
): ((frame: number) => boolean) | undefined {
  if (admitsAll(filter)) return () => true;
  const { sinceMs, untilMs, camera } = filter;
  const { columns } = catalog.segments[segment]!;
  const isAsked = new Uint8Array(frames);
  let any = false;
  for (let i = 0; i < frames; i++) {
    const time = columns.capturedAtMs[from + i]!;
    const text = columns.camera[from + i]!;
    const isTime = (sinceMs === undefined || time >= sinceMs) && (untilMs === undefined || time <= untilMs);
    if (!isTime || (camera !== undefined && (text === noText || textAt(columns, text) !== camera))) continue;
    isAsked[i] = 1;
    any = true;
  }
  return any ? (frame) => isAsked[frame] === 1 : undefined;
}

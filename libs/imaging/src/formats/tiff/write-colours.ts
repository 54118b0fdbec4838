import { type Rect, sampleBytes } from '@halogrid/geometry';
import { type MarkedSamples, markNoData } from '../../planes/mark-no-data.ts';
import type { PlaneTarget } from '../../planes/plane-target.ts';
import { writeRows } from '../../planes/write-rows.ts';
import type { TiffLayout } from './tiff-layout.ts';
import { type ColourTables, type SampleBlock, toColours } from './to-colours.ts';

/**
 * Writes the pixels of blocks inside `crop` to the planes of `to`, `across` and `down` from its first pixel, and marks
 * those without a value. The rest is as in `toColours`.
 */
export function writeColours(
  blocks: readonly SampleBlock[],
  crop: Rect,
  layout: Pick<TiffLayout, 'pixel' | 'colours' | 'scale' | 'bits' | 'isInverted'>,
  tables: ColourTables,
  { to, across, down, firstSample }: { to: PlaneTarget; across: number; down: number; firstSample?: number },
): void {
  const { noData } = to;
  const place = noData && { ...noData, x: noData.x + across, y: noData.y + down };
  const mark = place && ((marked: MarkedSamples) => markNoData(marked, place));
  const offset = to.offset + down * to.stride + across * sampleBytes[layout.pixel];
  writeRows(toColours(blocks, crop, layout, tables, mark, firstSample), { ...to, offset });
}

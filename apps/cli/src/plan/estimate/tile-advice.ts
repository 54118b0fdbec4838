import type { PlanTotals } from '@halogrid/coordinator/plan';
import { type Parts, partsOfCut } from './work-parts.ts';

/**
 * Advice is given if the cut takes more than this share of the time, or surroundings of tiles are more than this share
 * of what is read.
 */
const tooMuch = 0.5;

/** The advised size brings these shares below this. */
const fine = 0.1;

/** Sides that may be advised. The last is the default. */
const sidesPx = [128, 256, 512, 1024, 2048, 4096];

/** Fewer tiles than this are done at once, however small they are. */
const fewTiles = 100;

/**
 * A sentence about tiles that are so small that most of the time or of what is read is due to their number; undefined
 * for other tiles. `tilePx` is the side that was asked for; `isPart`: these are not all tiles.
 */
export function tileAdvice(
  { tiles, work, haloPixels }: Pick<PlanTotals, 'tiles' | 'work' | 'haloPixels'>,
  parts: Parts,
  tilePx: number,
  isPart = false,
): string | undefined {
  if (tiles < fewTiles) return undefined;
  const cut = partsOfCut.reduce((sum, name) => sum + (parts[name] ?? 0), 0);
  const rest = Object.values(parts).reduce((sum, seconds) => sum + seconds, 0) - cut;
  const cutShare = cut / (cut + rest);
  const readPixels = work.kernelPixels.u8 + work.kernelPixels.u16;
  const pixels = readPixels - haloPixels;
  const haloShare = haloPixels / readPixels;
  if (Math.max(cutShare, haloShare) <= tooMuch) return undefined;
  // With twice the side there is a quarter of the tiles, and half of what is read around them.
  const isFine = (px: number): boolean =>
    cut * (tilePx / px) ** 2 <= fine * rest && (haloPixels / pixels) * (tilePx / px) <= fine;
  const better =
    sidesPx.find((px) => px > tilePx && (isFine(px) || tiles * (tilePx / px) ** 2 < fewTiles)) ?? sidesPx.at(-1)!;
  const wasted = `${percent(cutShare)} of the time is spent on their number, and ${percent(haloShare)} of the pixels that are read lie around them`;
  return `Tiles of ${tilePx} pixels make ${isPart ? 'more than ' : ''}${tiles.toLocaleString('en')} shards: ${wasted}; --tile ${better} gives the same results sooner`;
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;

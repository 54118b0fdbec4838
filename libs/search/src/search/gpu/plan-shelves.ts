import type { GpuCountBytes } from '../../scan/gpu/nearness-shader.ts';
import type { BlockPlace } from '../../store/read-block.ts';

/** Frames that a workgroup looks at: ROWS of near.wgsl. */
export const bundleRows = 256;

/** The most bundles of a shelf: each is a workgroup of a dispatch. */
const maxBundles = 65_535;

/** Frames whose counts have one width, in one buffer of a device. */
export interface ShelfPlan {
  readonly width: GpuCountBytes;
  /** Blocks of the index one after another, and the number of the first frame of each in the shelf. */
  readonly blocks: readonly { readonly place: BlockPlace; readonly first: number }[];
  /** Frames, including padding that fills up the last bundle. */
  readonly rows: number;
}

/**
 * Puts blocks on shelves of at most `maxBytes`, as few as hold them. `length`: the counts of a frame. Blocks whose
 * counts only float64 holds, and blocks that are larger than a shelf, are on none.
 */
export function planShelves(blocks: readonly BlockPlace[], length: number, maxBytes: number): ShelfPlan[] {
  const shelves: ShelfPlan[] = [];
  for (const width of [1, 2, 4] as const) {
    const most = Math.min(Math.floor(maxBytes / (bundleRows * length * width)), maxBundles) * bundleRows;
    let open: { place: BlockPlace; first: number }[] = [];
    let frames = 0;
    const close = (): void => {
      if (frames > 0) shelves.push({ width, blocks: open, rows: Math.ceil(frames / bundleRows) * bundleRows });
      [open, frames] = [[], 0];
    };
    for (const place of blocks) {
      if (place.width !== width || place.frames > most) continue;
      if (frames + place.frames > most) close();
      open.push({ place, first: frames });
      frames += place.frames;
    }
    close();
  }
  return shelves;
}

/** The block of a frame on a shelf; undefined behind the last frame. */
export function shelfBlockAt({ blocks }: ShelfPlan, row: number): ShelfPlan['blocks'][number] | undefined {
  let [low, high] = [0, blocks.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (blocks[middle]!.first <= row) low = middle;
    else high = middle - 1;
  }
  const found = blocks[low]!;
  return row < found.first + found.place.frames ? found : undefined;
}

import { intersect, type Rect, type Size } from '@halogrid/geometry';
import { type BorderMode, borderIndex } from '../kernel/border.ts';

/** A rectangle of the image, and its place in the stored plane. */
export interface CopyRect {
  from: Rect;
  to: { x: number; y: number };
}

/**
 * How to read and store a tile so that computing it needs nothing else. The stored plane holds the tile and those
 * pixels of its halo that the border rule cannot derive from stored pixels.
 */
export interface ReadPlan {
  /** Size of the stored plane. */
  stored: Size;
  /** The rectangles to copy from the image; together they fill the plane. */
  copies: CopyRect[];
  /** The tile in the stored plane's coordinates. */
  out: Rect;
  /**
   * The pixels that have codes and count, in the stored plane's coordinates; all of `out` unless the border is
   * `interior`. If results are pairs, also then: each channel leaves out the pixels whose partner is not in the image.
   */
  valid: Rect;
}

/**
 * Plans the read of `tile` from an image of size `image`, for kernels that read `halo` pixels on each side. Beyond the
 * stored plane the kernel applies `border` to the plane itself; this is right because the plane ends only where the
 * image ends. With `wrap`, the opposite side of the image is not in the tile, so the halo is copied in full.
 */
export function planRead(tile: Rect, image: Size, halo: number, border: BorderMode, arePairs = false): ReadPlan {
  const whole = { x: 0, y: 0, ...image };
  const wanted = { x: tile.x - halo, y: tile.y - halo, width: tile.width + 2 * halo, height: tile.height + 2 * halo };
  const isWhole = tile.x === 0 && tile.y === 0 && tile.width === image.width && tile.height === image.height;
  const stored = border === 'wrap' && !isWhole ? wanted : intersect(wanted, whole);

  const out = { x: tile.x - stored.x, y: tile.y - stored.y, width: tile.width, height: tile.height };
  const inner = { x: halo, y: halo, width: image.width - 2 * halo, height: image.height - 2 * halo };
  const counted = border === 'interior' && !arePairs ? intersect(tile, inner) : tile;
  const valid = { ...counted, x: counted.x - stored.x, y: counted.y - stored.y };
  if (valid.width <= 0 || valid.height <= 0) Object.assign(valid, { x: out.x, y: out.y, width: 0, height: 0 });
  const copies = copiesOf(stored, image);
  return { stored: { width: stored.width, height: stored.height }, copies, out, valid };
}

/**
 * The rectangles to copy from an image of size `image` for the plane `stored`, which may extend beyond the image: it
 * repeats there.
 */
export function copiesOf(stored: Rect, image: Size): CopyRect[] {
  const copies: CopyRect[] = [];
  for (const row of runs(stored.y, stored.height, image.height)) {
    for (const column of runs(stored.x, stored.width, image.width)) {
      copies.push({
        from: { x: column.from, y: row.from, width: column.length, height: row.length },
        to: { x: column.to, y: row.to },
      });
    }
  }
  return copies;
}

/** Cuts [start, start + length) of an endlessly repeated row of n pixels into runs inside [0, n). */
function runs(start: number, length: number, n: number): { from: number; to: number; length: number }[] {
  const out: { from: number; to: number; length: number }[] = [];
  for (let done = 0; done < length; ) {
    const from = borderIndex(start + done, n, 'wrap');
    const run = Math.min(n - from, length - done);
    out.push({ from, to: done, length: run });
    done += run;
  }
  return out;
}

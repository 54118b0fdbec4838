import type { Size } from '@halogrid/geometry';
import type { Grid } from '@halogrid/kernels';
import { UsageError } from '@halogrid/service';

/** Height and width of a block, in pixels. */
export interface BlockSize {
  readonly rows: number;
  readonly columns: number;
}

/**
 * The grid whose cells are nearest to blocks of that size: as many as fit, and one more if at least half a block is
 * left. Cells differ by at most a pixel, and every pixel is in one. Throws UsageError if images differ in size, because
 * no grid suits them all.
 */
export function blockGrid(images: readonly ({ uri: string } & Size)[], block: BlockSize): Grid {
  const [first] = images;
  if (!first) throw new UsageError('Expected images for --block but there is none');
  const other = images.find(({ width, height }) => width !== first.width || height !== first.height);
  if (other) {
    throw new UsageError(
      `Expected images of one size for --block but '${first.uri}' is ${first.width} x ${first.height} and ` +
        `'${other.uri}' ${other.width} x ${other.height}: --grid cuts each into as many cells`,
    );
  }
  const count = (length: number, side: number): number => Math.max(1, Math.round(length / side));
  return { rows: count(first.height, block.rows), columns: count(first.width, block.columns) };
}

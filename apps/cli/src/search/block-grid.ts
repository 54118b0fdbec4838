import type { Size } from '@halogrid/geometry';
import type { Grid } from '@halogrid/kernels';
import { UsageError } from '@halogrid/service';

/** Height and width of a block, pixels. */
export interface BlockSize {
  readonly rows: number;
  readonly columns: number;
}

/**
 * The grid whose cells are nearest to blocks of that size: as many as fit, and one more where at least half of one is
 * left. Cells of a grid differ by a pixel at most, and every pixel is in one. Throws UsageError where images differ in
 * size, so that no grid suits all.
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

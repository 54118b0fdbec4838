import type { HitAt } from '../scan/scan-vectors.ts';
import type { Catalog } from '../store/catalog.ts';
import type { Unit } from '../store/pipeline-identity.ts';
import { cellsOfGrid } from '../store/pipeline-identity.ts';
import type { BlockPlace } from '../store/read-block.ts';

/**
 * A function that tells the frame and the cell of a vector of a block, by its number in the block; `admits` tells which
 * frames are asked for.
 */
export function hitAtOf(
  catalog: Catalog,
  { segment, from }: BlockPlace,
  unit: Unit,
  admits: (frame: number) => boolean,
): HitAt {
  const cells = unit === 'cell' ? cellsOfGrid(catalog.pipeline) : 1;
  const first = catalog.starts[segment]! + from;
  return (vector) => {
    const frame = Math.floor(vector / cells);
    return admits(frame) ? { row: first + frame, cell: vector % cells } : undefined;
  };
}

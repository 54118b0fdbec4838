import type { Rect, Size } from '@halogrid/geometry';
import { firstOf } from '@halogrid/jobs/planned-sources';
import type { SourceError, SourceResult, TileWork } from '@halogrid/jobs/shard';
import { cellsOf } from '@halogrid/kernels/grid';
import { cellPixels } from '@halogrid/results/cell-pixels';
import { binsOfCell, type HistogramShape, isOneCell, mostCounts } from '@halogrid/results/histogram-shape';
import { isCaptureTime } from '@halogrid/sources/captured';
import { checkErrors, refuse } from './check-answer.ts';

/**
 * Checks a node's answer to a tile: it has an error, or one result per pipeline that covers the tile and has the bins
 * of the cells that it touches. In each cell every channel counts the same number of pixels, at most as many as lie in
 * the cell, but bands and matrices may differ. In the first channel all cells together count `counted`. Returns the
 * results in the order of pipelines; none if the tile has an error. Throws InvalidResultError.
 */
export function checkTile(
  work: TileWork,
  { results, errors }: { results: readonly SourceResult[]; errors: readonly SourceError[] },
  shapes: readonly HistogramShape[],
): SourceResult[] {
  checkErrors(work, errors);
  const asked = firstOf(work.sources);
  const byPipeline = new Map<number, SourceResult>();
  for (const result of results) {
    const { source, pipeline = 0 } = result;
    if (!shapes[pipeline]) refuse(source, `has a result of pipeline ${pipeline}, which the job has not`);
    if (source !== asked || errors.length > 0 || byPipeline.has(pipeline)) {
      refuse(source, 'was not asked for, or is answered twice');
    }
    byPipeline.set(pipeline, result);
  }
  if (errors.length > 0) return [];
  return shapes.map((shape, pipeline) => {
    const result = byPipeline.get(pipeline) ?? refuse(asked, 'is not answered');
    checkArea(work, result);
    checkCounts(result, shape);
    if (result.captured && !isCaptureTime(result.captured)) refuse(asked, 'has a capture time that is none');
    return result;
  });
}

function checkArea(work: TileWork, { source, size, rect }: SourceResult): void {
  if (size.width !== work.size.width || size.height !== work.size.height) {
    refuse(source, `is ${text(size)} but was planned as ${text(work.size)}; has it changed?`);
  }
  if (!sameRect(rect, work.rect)) refuse(source, 'covers another rectangle than was asked for');
}

function checkCounts({ source, size, rect, counted, bins }: SourceResult, shape: HistogramShape): void {
  if (!Number.isSafeInteger(counted) || counted < 0 || counted > mostCounts(shape, pixelsOf(rect))) {
    refuse(source, `counts ${counted} of ${pixelsOf(rect)} pixels`);
  }
  const cells = isOneCell(shape.grid) || shape.bins === 0 ? undefined : cellsOf(shape.grid, size, rect);
  const cellBins = binsOfCell(shape);
  const wantedBins = (cells?.length ?? 1) * cellBins;
  if (bins.length !== wantedBins) refuse(source, `has ${bins.length} bins instead of ${wantedBins}`);
  if (shape.bins === 0) return;
  let sum = 0;
  for (let cell = 0; cell * cellBins < bins.length; cell++) {
    const pixels = cellPixels(shape, bins, cell * cellBins, pixelsOf(cells ? cells[cell]!.rect : rect));
    if (typeof pixels === 'string') refuse(source, pixels);
    sum += pixels;
  }
  if (sum !== counted) refuse(source, `counts ${counted} pixels but its bins hold ${sum}`);
}

const pixelsOf = ({ width, height }: Rect): number => width * height;

const sameRect = (a: Rect, b: Rect): boolean =>
  a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

const text = ({ width, height }: Size): string => `${width} x ${height}`;

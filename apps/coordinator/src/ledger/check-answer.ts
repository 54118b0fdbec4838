import type { Rect, Size } from '@halogrid/geometry';
import { cellsOf } from '@halogrid/kernels/grid';
import type { MendedKind } from '@halogrid/proto';
import { cellPixels } from '@halogrid/results/cell-pixels';
import { binsOfCell, type HistogramShape, isOneCell } from '@halogrid/results/histogram-shape';
import { isCaptureTime } from '@halogrid/sources/captured';
import { indexesOf } from '../job/planned-sources.ts';
import type { ShardWork, SourceError, SourceResult } from '../job/shard.ts';

/** A node's results cannot be right: they are not merged. */
export class InvalidResultError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidResultError';
  }
}

/**
 * Checks a node's answer against the work it was leased: every source of the work is answered once, with a result or an
 * error; a result covers what was asked; its bins are those of the cells that it touches. In each cell every channel holds
 * the same number of pixels, at most as many as lie there, and all cells together hold `counted`. Throws InvalidResultError.
 */
export function checkAnswer(
  work: ShardWork,
  answer: { results: readonly SourceResult[]; errors: readonly SourceError[] },
  shape: HistogramShape,
): void {
  const open = new Set(indexesOf(work));
  for (const { source } of [...answer.results, ...answer.errors]) {
    if (!open.delete(source)) refuse(source, 'was not asked for, or is answered twice');
  }
  for (const source of open) refuse(source, 'is not answered');
  for (const result of answer.results) {
    checkArea(work, result);
    checkCounts(result, shape);
    if (result.captured && !isCaptureTime(result.captured)) refuse(result.source, 'has a capture time that is none');
  }
}

/**
 * Checks the answer of several pipelines: of each what checkAnswer does, and that all found the same size. Returns the results of
 * each, in its order. Throws InvalidResultError.
 */
export function checkAnswers(
  work: ShardWork,
  { results, errors }: { results: readonly SourceResult[]; errors: readonly SourceError[] },
  shapes: readonly HistogramShape[],
): SourceResult[][] {
  const byPart = shapes.map((): SourceResult[] => []);
  for (const result of results) {
    const part = byPart[result.pipeline ?? 0];
    if (!part) refuse(result.source, `has a result of pipeline ${result.pipeline}, which the job has not`);
    part.push(result);
  }
  for (const [i, shape] of shapes.entries()) checkAnswer(work, { results: byPart[i]!, errors }, shape);
  const sizes = new Map(byPart[0]!.map(({ source, size }) => [source, text(size)]));
  for (const { source, size } of byPart.slice(1).flat()) {
    if (sizes.get(source) !== text(size)) refuse(source, `is ${sizes.get(source)} and ${text(size)}`);
  }
  return byPart;
}

/** Checks that each error is of another source of the work. Throws InvalidResultError. */
export function checkErrors(work: ShardWork, errors: readonly SourceError[]): void {
  const asked = new Set(errors.length > 0 ? indexesOf(work) : []);
  for (const { source } of errors) if (!asked.delete(source)) refuse(source, 'was not asked for, or is answered twice');
}

/**
 * Checks the mended files of an answer: they must be sources of the work, and not more than its sources without an
 * error. Throws InvalidResultError.
 */
export function checkMended(work: ShardWork, mended: readonly MendedKind[], errors: readonly SourceError[]): void {
  if (mended.length === 0) return;
  const good = new Set(indexesOf(work));
  for (const { source } of errors) good.delete(source);
  for (const { source, sources } of mended) {
    if (!good.has(source) || sources < 1) refuse(source, 'was not asked for, or has an error, and bytes left out');
  }
  const sum = mended.reduce((all, { sources }) => all + sources, 0);
  if (sum > good.size) throw new InvalidResultError(`There are ${sum} files with bytes left out of ${good.size}`);
}

function checkArea(work: ShardWork, { source, size, rect }: SourceResult): void {
  const pixels = size.width * size.height;
  if (!(pixels > 0) || !Number.isSafeInteger(pixels)) refuse(source, `has ${size.width} x ${size.height} pixels`);
  const wantedSize = work.kind === 'tile' ? work.size : size;
  const wantedRect = work.kind === 'tile' ? work.rect : { x: 0, y: 0, ...size };
  if (size.width !== wantedSize.width || size.height !== wantedSize.height) {
    refuse(source, `is ${text(size)} but was planned as ${text(wantedSize)}; has it changed?`);
  }
  if (!sameRect(rect, wantedRect)) refuse(source, 'covers another rectangle than was asked for');
}

/** Checks that the bins of a result can be those of the cells that it touches. Throws InvalidResultError. */
export function checkCounts({ source, size, rect, counted, bins }: SourceResult, shape: HistogramShape): void {
  if (!Number.isSafeInteger(counted) || counted < 0 || counted > pixelsOf(rect)) {
    refuse(source, `counts ${counted} of ${pixelsOf(rect)} pixels`);
  }
  // The cells of a single one are not listed, because an ordinary job's frames are many.
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

function refuse(source: number, why: string): never {
  throw new InvalidResultError(`The result of source ${source} ${why}`);
}

const pixelsOf = ({ width, height }: Rect): number => width * height;

const sameRect = (a: Rect, b: Rect): boolean =>
  a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

const text = (size: Size): string => `${size.width} x ${size.height}`;

import type { Rect, Size } from '@halogrid/kernels';
import type { ShardWork, SourceError, SourceRef, SourceResult } from '../shard.ts';
import type { HistogramShape } from './merge.ts';

/** A node's results cannot be right: they are not merged. */
export class InvalidResultError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidResultError';
  }
}

/**
 * Checks a node's answer against the work it was leased: every source of the work is answered once, with a result or an
 * error; a result covers what was asked; its bins are as many as the kernel has and each channel's sum is `counted`.
 * Throws InvalidResultError.
 */
export function checkAnswer(
  work: ShardWork,
  answer: { results: readonly SourceResult[]; errors: readonly SourceError[] },
  shape: HistogramShape,
): void {
  const open = new Set((work.kind === 'tile' ? [work.source] : work.sources).map((source: SourceRef) => source.index));
  for (const { source } of [...answer.results, ...answer.errors]) {
    if (!open.delete(source)) refuse(source, 'was not asked for, or is answered twice');
  }
  for (const source of open) refuse(source, 'is not answered');
  for (const result of answer.results) {
    checkArea(work, result);
    checkCounts(result, shape);
  }
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

function checkCounts({ source, rect, counted, bins }: SourceResult, shape: HistogramShape): void {
  if (!Number.isSafeInteger(counted) || counted < 0 || counted > rect.width * rect.height) {
    refuse(source, `counts ${counted} of ${rect.width * rect.height} pixels`);
  }
  if (bins.length !== shape.channels * shape.bins) {
    refuse(source, `has ${bins.length} bins instead of ${shape.channels * shape.bins}`);
  }
  for (let channel = 0; channel < shape.channels; channel++) {
    let sum = 0;
    for (let i = channel * shape.bins; i < (channel + 1) * shape.bins; i++) {
      if (!Number.isSafeInteger(bins[i]) || bins[i]! < 0) refuse(source, `has ${bins[i]} pixels in bin ${i}`);
      sum += bins[i]!;
    }
    if (sum !== counted) refuse(source, `counts ${counted} pixels but the bins of channel ${channel} hold ${sum}`);
  }
}

function refuse(source: number, why: string): never {
  throw new InvalidResultError(`The result of source ${source} ${why}`);
}

const sameRect = (a: Rect, b: Rect): boolean =>
  a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

const text = (size: Size): string => `${size.width} x ${size.height}`;

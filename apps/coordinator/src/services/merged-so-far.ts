import { jobGrid, jobParts } from '@halogrid/jobs/accepted-job';
import { refuseValue } from '@halogrid/jobs/refusal';
import type { Grid } from '@halogrid/kernels';
import type { JobRecord, Ledger } from '@halogrid/ledger';
import type { MergedSoFar } from '@halogrid/proto';
import { histogramShape } from '@halogrid/results/histogram-shape';
import type { LiveCells } from '../output/live-cells.ts';
import { unlessPublished } from './unless-published.ts';

/**
 * The merged histogram that is asked for: of the named pipeline, or the first; of one cell (ROW,COLUMN), or all cells
 * together.
 */
export interface AskedHistogram {
  pipeline?: string;
  cell?: string;
}

/**
 * The histogram merged so far; undefined for a job that is not led here, and for a cell of one whose output is
 * published. Rejects with Refusal if the job has no such pipeline or cell.
 */
export async function mergedSoFar(
  { jobId, spec }: JobRecord,
  asked: AskedHistogram,
  ledger: Pick<Ledger, 'mergedSoFar' | 'getJob'>,
  cells: Pick<LiveCells, 'sum'>,
): Promise<MergedSoFar | undefined> {
  const merged = ledger.mergedSoFar(jobId);
  if (!merged) return undefined;
  const parts = jobParts(spec);
  const at = asked.pipeline === undefined ? 0 : parts.findIndex(({ name }) => name === asked.pipeline);
  const [part, whole] = [parts[at], merged[at]];
  if (!part || !whole)
    refuseValue('pipeline', asked.pipeline ?? '', `one of ${parts.map(({ name }) => name).join(', ')}`);
  const { output, bins } = part.pipeline;
  const told = { pipelines: parts.map(({ name }) => name), pipeline: part.name };
  const byChannel = (all: BigUint64Array | Float64Array) =>
    output.channels.map((name, i) => ({ name, bins: Array.from(all.subarray(i * bins, (i + 1) * bins), String) }));
  if (asked.cell === undefined) {
    return { ...told, counted: String(whole.counted), channels: byChannel(whole.bins), cell: undefined };
  }
  const shape = histogramShape(part.pipeline, jobGrid(spec));
  const { row, column } = readCell(asked.cell, shape.grid);
  const cell = row * shape.grid.columns + column;
  const sum = await unlessPublished(jobId, ledger, cells.sum({ jobId, spec, part: at, cell }));
  if (!sum || !ledger.mergedSoFar(jobId)) return undefined;
  const counted = sum.bins.subarray(0, bins).reduce((all, count) => all + count, 0);
  return {
    ...told,
    counted: String(counted),
    channels: byChannel(sum.bins),
    cell: { row, column, sources: sum.sources },
  };
}

function readCell(text: string, { rows, columns }: Grid): { row: number; column: number } {
  const [, row = '', column = ''] = /^(\d{1,8}),(\d{1,8})$/.exec(text) ?? [];
  if (row !== '' && Number(row) < rows && Number(column) < columns) return { row: Number(row), column: Number(column) };
  return refuseValue('cell', text, `ROW,COLUMN from 0,0 to ${rows - 1},${columns - 1}`);
}

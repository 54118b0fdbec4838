import type { ReadOptions } from '@halogrid/imaging';
import type { SheetRow } from '@halogrid/results/contact-sheet';
import { type Catalog, cellsOfGrid, type DistanceName, type Finding, type Unit } from '@halogrid/search';
import { table } from '@halogrid/service/text-table';
import { plural } from '../progress/quantities.ts';

/** A result as `--json` prints it. */
export interface PrintedResult {
  rank: number;
  uri: string;
  frame: number;
  score: number;
  /** The score as an exact fraction, if the distance has one. */
  exact?: string;
  /** The number of the row in the index, for `row:N`. */
  row: number;
  cellRow?: number;
  cellColumn?: number;
  timestampMs: number | null;
  /** In UTC. */
  capturedAt: string | null;
  camera: string | null;
  /** Number of nearby results that were merged into this one. */
  folded?: number;
}

export interface AnswersOfQuery {
  query: string;
  distance: DistanceName;
  results: PrintedResult[];
}

/** The findings as results that do not need the index. */
export function answersOf(
  findings: readonly Finding[],
  catalog: Catalog,
  unit: Unit,
  isGrouped: boolean,
): PrintedResult[] {
  const { columns } = catalog.pipeline.grid;
  return findings.map(({ score, row, cell, folded }, i) => {
    const { uri, frame, timestampMs, capturedAtMs, camera } = catalog.describe(row);
    const { value, fraction } = score;
    return {
      rank: i + 1,
      uri,
      frame,
      score: value,
      exact: fraction && `${fraction.numerator}/${fraction.denominator}`,
      row,
      cellRow: unit === 'cell' ? Math.floor(cell / columns) : undefined,
      cellColumn: unit === 'cell' ? cell % columns : undefined,
      timestampMs,
      capturedAt: capturedAtMs === null ? null : new Date(capturedAtMs).toISOString(),
      camera,
      folded: isGrouped ? folded : undefined,
    };
  });
}

/** The answers as a table for people. */
export function describeAnswers({ query, distance, results }: AnswersOfQuery): string {
  const head = ['rank', distance, 'frame', 'time', 'source'];
  const rows = results.map((answer) => [
    String(answer.rank),
    answer.score.toFixed(6),
    String(answer.frame),
    timeOf(answer),
    `${answer.uri}${cellOf(answer)}${answer.folded ? ` (and ${answer.folded} nearby)` : ''}`,
  ]);
  return `${query}: ${plural(results.length, 'result')}\n${table([head, ...rows], '  ')}`;
}

const cellOf = ({ cellRow, cellColumn }: PrintedResult): string =>
  cellRow === undefined ? '' : ` cell ${cellRow},${cellColumn}`;

/** When it was captured, if known, otherwise its time in the video. */
function timeOf({ capturedAt, timestampMs }: Pick<PrintedResult, 'capturedAt' | 'timestampMs'>): string {
  if (capturedAt !== null) return capturedAt;
  return timestampMs === null ? '-' : `${(timestampMs / 1000).toFixed(3)} s`;
}

/** Rows of a contact sheet with the first results, each with score and time. `read`: what the index reads of images. */
export function sheetRows(answers: readonly AnswersOfQuery[], read: ReadOptions): SheetRow[] {
  return answers.slice(0, sheetQueries).map(({ query, distance, results }) => ({
    title: `${query} by ${distance}`,
    tiles: results.slice(0, sheetTiles).map((answer) => ({
      shown: { uri: answer.uri, videoFrame: answer.timestampMs === null ? undefined : answer.frame, read },
      caption: [`${answer.rank}. ${answer.score.toFixed(6)}`, captionOf(answer)],
    })),
  }));
}

const sheetTiles = 50;
const sheetQueries = 20;

function captionOf(answer: PrintedResult): string {
  const name = readable(answer.uri.slice(answer.uri.lastIndexOf('/') + 1));
  const time = answer.capturedAt === null && answer.timestampMs === null ? '' : ` ${timeOf(answer)}`;
  return `${name}${answer.timestampMs === null ? '' : `#${answer.frame}`}${cellOf(answer)}${time}`;
}

/** The name without percent escapes, if they are valid UTF-8. */
function readable(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Why fewer results were found than were asked for, a sentence for each reason. */
export function whyFewer(catalog: Catalog, unit: Unit, top: number): string[] {
  const units = catalog.frames * (unit === 'cell' ? cellsOfGrid(catalog.pipeline) : 1);
  const empty = catalog.countEmpty(unit);
  const notes = [];
  if (units < top) notes.push(`The index has ${plural(units, unit)}, so no more than that can be found.`);
  if (empty > 0) {
    notes.push(
      `${plural(empty, unit)} of the index ${empty === 1 ? 'counts' : 'count'} no pixel and can never be found.`,
    );
  }
  return notes;
}

import { join, resolve } from 'node:path';
import type { SheetRow } from '@halogrid/results/contact-sheet';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import {
  type Catalog,
  type DistanceName,
  queryVector,
  readOf,
  SearchIndex,
  type Unit,
  type Vector,
} from '@halogrid/search';
import { UsageError } from '@halogrid/service';
import { makeFolders } from '@halogrid/service/make-folders';
import { anotherFolder, writing } from '@halogrid/service/system-errors';
import { exitCodes } from '../process/exit-code.ts';
import { type AnswersOfQuery, answersOf, describeAnswers, sheetRows, whyFewer } from './answers.ts';
import { queryHistograms, regionHistograms } from './query-histograms.ts';
import { parseQuery } from './read-query.ts';
import { countsInRegion, type Region } from './region.ts';
import { type SearchDevice, searchDevice } from './search-device.ts';

export interface SearchOptions {
  index: string;
  device: SearchDevice;
  top: number;
  distance: DistanceName;
  cells?: boolean;
  region?: Region;
  since?: number;
  until?: number;
  camera?: string;
  perSource?: number;
  group?: number;
  out?: string;
  json?: boolean;
}

/** Prints the frames of the index that are most like each query, and resolves with the exit code. */
export async function answerQueries(
  texts: readonly string[],
  options: SearchOptions,
  signal: AbortSignal,
): Promise<number> {
  const { top, distance, camera, perSource, group, out, json } = options;
  const queries = texts.map((text) => parseQuery(text, process.cwd()));
  const unit: Unit = options.cells ? 'cell' : 'frame';
  const { region } = options;
  if (region?.kind === 'cells' && unit === 'frame')
    throw new UsageError('Expected --cells with --region ROW,COLUMN: cells of a query are compared with cells');
  const openScan = searchDevice(options.device, queries.length, (line) => process.stderr.write(`${line}\n`));
  const index = await SearchIndex.openWith(resolve(options.index), openScan);
  try {
    const { catalog } = index;
    if (catalog.frames === 0) throw new UsageError(`The index '${options.index}' is empty: there is nothing to find`);
    checkFilter(catalog, options);
    const bins =
      region?.kind === 'pixels'
        ? await regionHistograms(queries, region.rect, catalog, signal)
        : await queryHistograms(queries, catalog, signal);
    const vectors = bins.map((counts) => {
      const wanted = region?.kind === 'cells' ? countsInRegion(region, catalog.pipeline, counts) : counts;
      return queryVector(catalog.pipeline, wanted, unit);
    });
    checkQueries(queries, vectors);
    const findings = await index.search({
      queries: vectors,
      distance,
      top,
      unit,
      filter: { sinceMs: options.since, untilMs: options.until, camera },
      perSource,
      within: group,
    });
    const answers = queries.map(({ text }, i): AnswersOfQuery => {
      return { query: text, distance, results: answersOf(findings[i]!, catalog, unit, group !== undefined) };
    });
    const isFewer = findings.some(({ length }) => length < top);
    if (isFewer) for (const note of whyFewer(catalog, unit, top)) process.stderr.write(`${note}\n`);
    const text = `${JSON.stringify(answers, null, 2)}\n`;
    process.stdout.write(json ? text : answers.map(describeAnswers).join('\n'));
    if (out !== undefined)
      await writing(out, anotherFolder, () => writeAnswers(out, text, sheetRows(answers, readOf(catalog.pipeline))));
    return exitCodes.complete;
  } finally {
    await index.close();
  }
}

/**
 * Throws one sentence for a query without counted pixels: all of it is outside a mask, or it is smaller than its
 * border.
 */
function checkQueries(queries: readonly { text: string }[], vectors: readonly Vector[]): void {
  const empty = queries.find((_, i) => vectors[i]!.mass === 0);
  if (empty) throw new Error(`The query '${empty.text}' counts no pixel, so there is nothing to compare`);
}

/** Throws one sentence if no frame of the index has the times or camera that the options ask for. */
function checkFilter(catalog: Catalog, { since, until, camera }: SearchOptions): void {
  if ((since !== undefined || until !== undefined) && !catalog.knows('capturedAtMs')) {
    throw new UsageError('No frame of the index knows when it was captured, so --since and --until find none');
  }
  if (camera !== undefined && !catalog.knows('camera')) {
    throw new UsageError('No frame of the index knows its camera, so --camera finds none');
  }
  if (camera !== undefined) catalog.checkCamera(camera);
}

async function writeAnswers(out: string, text: string, rows: readonly SheetRow[]): Promise<void> {
  await makeFolders(out);
  await writeFileAtomically(join(out, 'results.json'), text);
  const { contactSheet } = await import('@halogrid/results/contact-sheet');
  await writeFileAtomically(join(out, 'contact-sheet.png'), await contactSheet(rows));
  process.stderr.write(`Written: ${out}/results.json and ${out}/contact-sheet.png.\n`);
}

import { join, resolve } from 'node:path';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import { type Catalog, type DistanceName, distanceNames, queryVector, SearchIndex, type Unit } from '@halogrid/search';
import { UsageError } from '@halogrid/service';
import { makeFolders } from '@halogrid/service/make-folders';
import type { Command } from 'commander';
import { moment, oneOf, wholeNumber } from '../options/option-values.ts';
import { exitCodes } from '../process/exit-code.ts';
import { unlessStopped } from '../process/unless-stopped.ts';
import { type AnswersOfQuery, answersOf, describeAnswers, fewerThanAsked, sheetRows } from '../search/answers.ts';
import { queryHistograms } from '../search/query-histograms.ts';
import { readQuery } from '../search/read-query.ts';
import { countsIn, type Region, readRegion } from '../search/region.ts';

interface SearchOptions {
  index: string;
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

/** Results of a query at most: what a table can still be read of, with room. */
const maxTop = 1_000_000;

export function addSearchCommand(program: Command): void {
  program
    .command('search')
    .summary('find the frames of an index that are most like a query')
    .description(
      'Ranks all frames of an index by their histograms, exactly; ties are in the order of URIs, then frames. A query is an ' +
        'image file, a frame of the index as PATH#FRAME, or row:N.',
    )
    .argument('<query...>', 'image file, PATH#FRAME of an indexed source, or row:N')
    .requiredOption('--index <dir>', 'folder of the index')
    .option('--top <k>', 'results a query', wholeNumber('--top', 1, maxTop), 10)
    .option('--distance <name>', `${distanceNames.join(', ')}`, oneOf('--distance', distanceNames), 'intersection')
    .option('--cells', 'compare the query as a whole with each cell of the grid')
    .option(
      '--region <cells>',
      'of the query only these cells, ROW,COLUMN or ROW,COLUMN-ROW,COLUMN; with --cells',
      readRegion,
    )
    .option('--since <time>', 'only frames captured then or later, such as 2026-01-31T08:00Z', moment('--since'))
    .option('--until <time>', 'only frames captured then or earlier', moment('--until'))
    .option('--camera <name>', 'only frames of this camera')
    .option('--per-source <n>', 'results of one source, at most', wholeNumber('--per-source', 1, maxTop))
    .option(
      '--group <frames>',
      'fold results that are at most so many frames from a better one',
      wholeNumber('--group', 1, maxTop),
    )
    .option('--out <dir>', 'also write results.json and a contact sheet there')
    .option('--json', 'as JSON')
    .action(async (texts: string[], options: SearchOptions) => {
      await unlessStopped((signal) => search(texts, options, signal));
    });
}

async function search(texts: readonly string[], options: SearchOptions, signal: AbortSignal): Promise<number> {
  const { top, distance, camera, perSource, group, out, json } = options;
  const queries = texts.map((text) => readQuery(text, process.cwd()));
  const unit: Unit = options.cells ? 'cell' : 'frame';
  const { region } = options;
  if (region && unit === 'frame')
    throw new UsageError('Expected --cells with --region: a part of a query is compared with cells');
  const index = await SearchIndex.open(resolve(options.index));
  try {
    const { catalog } = index;
    if (catalog.frames === 0) throw new UsageError(`The index '${options.index}' is empty: there is nothing to find`);
    checkFilter(catalog, options);
    const bins = await queryHistograms(queries, catalog, signal);
    const findings = await index.search({
      queries: bins.map((counts) => {
        const wanted = region ? countsIn(region, catalog.pipeline, counts) : counts;
        return queryVector(catalog.pipeline, wanted, unit);
      }),
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
    const notice = fewerThanAsked(catalog, unit, top);
    if (notice) process.stderr.write(`${notice}\n`);
    const text = `${JSON.stringify(answers, null, 2)}\n`;
    process.stdout.write(json ? text : answers.map(describeAnswers).join('\n'));
    if (out !== undefined) await writeAnswers(out, text, answers);
    return exitCodes.complete;
  } finally {
    await index.close();
  }
}

/** Throws one sentence where no frame of the index has what is asked for. */
function checkFilter(catalog: Catalog, { since, until, camera }: SearchOptions): void {
  if ((since !== undefined || until !== undefined) && !catalog.knows('capturedAtMs')) {
    throw new UsageError('No frame of the index knows when it was captured, so --since and --until find none');
  }
  if (camera !== undefined && !catalog.knows('camera')) {
    throw new UsageError('No frame of the index knows its camera, so --camera finds none');
  }
}

async function writeAnswers(out: string, text: string, answers: readonly AnswersOfQuery[]): Promise<void> {
  await makeFolders(out);
  await writeFileAtomically(join(out, 'results.json'), text);
  const { contactSheet } = await import('@halogrid/results/contact-sheet');
  await writeFileAtomically(join(out, 'contact-sheet.png'), await contactSheet(sheetRows(answers)));
  process.stderr.write(`Written: ${out}/results.json and ${out}/contact-sheet.png.\n`);
}

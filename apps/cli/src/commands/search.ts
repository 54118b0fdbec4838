import { distanceNames } from '@halogrid/search/distance-names';
import type { Command } from 'commander';
import { moment, parseWord, searchDevices, wholeNumber } from '../options/option-values.ts';
import { unlessStopped } from '../process/unless-stopped.ts';
import type { SearchOptions } from '../search/answer-queries.ts';
import { readRegion } from '../search/region.ts';

/** Results of a query at most: far more than a table of them is useful for. */
const maxTop = 1_000_000;

export function addSearchCommand(program: Command): void {
  program
    .command('search')
    .description(
      'Ranks all frames of an index by the exact distance of their histograms; ties are ordered by URI, then frame. A query is ' +
        'an image file, a frame of the index as PATH#FRAME, or row:N.',
    )
    .argument('<query...>', 'image file, PATH#FRAME of an indexed source, or row:N')
    .requiredOption('--index <dir>', 'folder of the index')
    .option('--top <k>', 'results per query', wholeNumber('--top', 1, maxTop), 10)
    .option('--distance <name>', `${distanceNames.join(', ')}`, parseWord('--distance', distanceNames), 'intersection')
    .option('--cells', 'compare the query as a whole with each cell of the grid')
    .option(
      '--region <part>',
      'use only this part of each query: pixels as X,Y,WxH; or with --cells, cells as ROW,COLUMN or ROW,COLUMN-ROW,COLUMN',
      readRegion,
    )
    .option('--since <time>', 'only frames captured then or later, such as 2026-01-31T08:00Z', moment('--since'))
    .option('--until <time>', 'only frames captured then or earlier', moment('--until'))
    .option('--camera <name>', 'only frames of this camera')
    .option('--per-source <n>', 'results per source, at most', wholeNumber('--per-source', 1, maxTop))
    .option(
      '--group <frames>',
      'merge results that are at most this many frames from a better one',
      wholeNumber('--group', 1, maxTop),
    )
    .option(
      '--device <kind>',
      `what searches: ${searchDevices.join(', ')}`,
      parseWord('--device', searchDevices),
      'auto',
    )
    .option('-o, --out <dir>', 'also write results.json and a contact sheet there')
    .option('--json', 'print JSON')
    .action(async (texts: string[], options: SearchOptions) => {
      const { answerQueries } = await import('../search/answer-queries.ts');
      await unlessStopped((signal) => answerQueries(texts, options, signal));
    });
}

import { resolve } from 'node:path';
import { type DistanceName, distanceNames } from '@halogrid/search/distance-names';
import { type Command, InvalidArgumentError } from 'commander';
import { collect, deviceChoices, parseWord } from '../options/option-values.ts';
import { readBorder } from '../options/read-border.ts';
import { unlessStopped } from '../process/unless-stopped.ts';
import type { BlockSize } from '../search/block-grid.ts';
import type { EvaluateOptions } from '../search/evaluate-folder.ts';

const distanceName = parseWord('--distance', distanceNames);
const readDistances = (text: string): DistanceName[] => text.split(',').map(distanceName);

function readBlock(text: string): BlockSize {
  const [, rows, columns] = /^([1-9]\d{0,6})x([1-9]\d{0,6})$/.exec(text) ?? [];
  if (!rows || !columns) {
    throw new InvalidArgumentError(`Expected HxW in pixels, such as 16x16, but received '${text}'`);
  }
  return { rows: Number(rows), columns: Number(columns) };
}

export function addEvaluateCommand(program: Command): void {
  program
    .command('evaluate')
    .description(
      'Compares every image of a labelled tree with every other. Prints the area below the ROC of their scores, the threshold ' +
        'nearest to (0, 1), the recognition rate (leave one out), mean average precision, and precision at 1, 5 and 10.',
    )
    .argument('<folder>', 'a sub-folder for each class, with its images')
    .option('--op <name[:k=v,…]>', 'as for run (default: lbp)', collect)
    .option('--pipeline <name=op[+op…]>', 'as for run; several are compared side by side', collect)
    .option('--border <mode>', 'as for run', readBorder)
    .option(
      '--grid <RxC,…>',
      'compare the cells of a grid one by one; several grids are compared side by side (default: 1x1)',
    )
    .option(
      '--block <HxW>',
      'instead of --grid: cells of about this many pixels, if all images have one size',
      readBlock,
    )
    .option('--distance <name,…>', `${distanceNames.join(', ')} (default: intersection)`, readDistances)
    .option('--device <kind>', 'as for run', parseWord('--device', deviceChoices), 'auto')
    .option(
      '-o, --out <dir>',
      'also write evaluation.json, roc.svg and a sheet with the five best matches of some images there',
    )
    .option('--json', 'print JSON')
    .action(async (folder: string, options: EvaluateOptions) => {
      const { evaluateFolder } = await import('../search/evaluate-folder.ts');
      await unlessStopped((signal) => evaluateFolder(resolve(folder), options, signal));
    });
}

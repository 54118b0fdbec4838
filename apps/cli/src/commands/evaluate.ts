import { resolve } from 'node:path';
import { distanceNames } from '@halogrid/search/distance-names';
import type { Command } from 'commander';
import { collect, deviceChoices, oneOf } from '../options/option-values.ts';
import { readBorder } from '../options/read-border.ts';
import { unlessStopped } from '../process/unless-stopped.ts';
import type { EvaluateOptions } from '../search/evaluate-folder.ts';

export function addEvaluateCommand(program: Command): void {
  program
    .command('evaluate')
    .summary('measure how well histograms tell labelled images apart')
    .description(
      'Compares every image of a labelled tree with every other: the ROC of a threshold on their scores, its point nearest to ' +
        '(0, 1), the recognition rate (leave one out), mean average precision, and precision at 1, 5 and 10.',
    )
    .argument('<folder>', 'a sub-folder for each class, with its images')
    .option('--op <name[:k=v,…]>', 'as of run (default: lbp)', collect)
    .option(
      '--pipeline <name=op[+op…]>',
      'in place of --op; repeat it to compare several on images decoded once',
      collect,
    )
    .option('--border <mode>', 'as of run', readBorder)
    .option('--grid <RxC>', 'compares the cells of a grid in their places', '1x1')
    .option('--distance <name>', `${distanceNames.join(', ')}`, oneOf('--distance', distanceNames), 'intersection')
    .option('--device <kind>', 'as of run', oneOf('--device', deviceChoices), 'auto')
    .option('--out <dir>', 'write evaluation.json, roc.svg and a sheet of the best five of some images there')
    .option('--json', 'as JSON')
    .action(async (folder: string, options: EvaluateOptions) => {
      const { evaluateFolder } = await import('../search/evaluate-folder.ts');
      await unlessStopped((signal) => evaluateFolder(resolve(folder), options, signal));
    });
}

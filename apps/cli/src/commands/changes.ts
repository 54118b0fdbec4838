import { type ChangeKind, changeKinds } from '@halogrid/search/change-kinds';
import { type Command, InvalidArgumentError } from 'commander';
import { wholeNumber } from '../options/option-values.ts';
import type { ChangesOptions } from '../search/list-changes.ts';

export function addChangesCommand(program: Command): void {
  program
    .command('changes')
    .description(
      'Compares the frames of each camera with the one before and with a running reference, and lists what passed, what was ' +
        'left behind, and when the view was covered, blurred or turned. With a grid (run --grid 8x8) it also shows where.',
    )
    .argument('<out>', 'output of a job: a folder, or s3://BUCKET/PREFIX')
    .option(
      '--min-duration <seconds>',
      'how long a change must last to be reported as lasting (frames, where no times are known)',
      wholeNumber('--min-duration', 1, 86_400),
      16,
    )
    .option(
      '--threshold <k>',
      "how unusual a change must be: robust standard deviations (MAD) above the cell's median",
      wholeNumber('--threshold', 1, 1000),
      8,
    )
    .option('--pipeline <name>', 'the pipeline to compare, if the job has several')
    .option('--camera <name>', 'only this camera')
    .option('--kind <names>', `only changes of these kinds: ${changeKinds.join(', ')} (default: all)`, readKinds)
    .option('-o, --out <dir>', 'also write events.jsonl, timeline.svg and a contact sheet there')
    .option('--json', 'print JSON')
    .action(async (out: string, options: ChangesOptions) => {
      const { listChanges } = await import('../search/list-changes.ts');
      await listChanges(out, options);
    });
}

function readKinds(text: string): ChangeKind[] {
  return text.split(',').map((name) => {
    const kind = changeKinds.find((one) => one === name);
    if (!kind) throw new InvalidArgumentError(`Expected some of ${changeKinds.join(', ')} but received '${name}'`);
    return kind;
  });
}

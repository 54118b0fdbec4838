import { maxPage } from '@halogrid/proto/job-limits';
import type { Command } from 'commander';
import { wholeNumber } from './option-values.ts';

/** What the option of `addPageOption` parses to. */
export interface PageChoice {
  page?: number;
}

/** The option that says which page of stacks is read. */
export function addPageOption(command: Command): Command {
  return command.option(
    '--page <n>',
    'the page of stacks of TIFF, or the frame of animated GIF and WebP, from 1 (default: the first, and no animated GIF)',
    wholeNumber('--page', 1, maxPage),
  );
}

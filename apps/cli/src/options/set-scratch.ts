import { resolve } from 'node:path';
import type { Command } from 'commander';

export interface ScratchOption {
  scratch?: string;
}

export const addScratchOption = (command: Command): Command =>
  command.option(
    '--scratch <dir>',
    "folder for unfinished results of an output in a bucket (default: halogrid/scratch in the user's data folder)",
  );

/** Tells this process, and its threads and children, what --scratch says. */
export function setScratch(folder: string | undefined): void {
  if (folder !== undefined) process.env.HALOGRID_SCRATCH = resolve(folder);
}

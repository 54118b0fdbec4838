import type { SubmitRequest } from '@halogrid/proto';
import { Command } from 'commander';
import { addClusterOptions, type ClusterChoice, checkClusterChoice } from '../options/cluster-options.ts';
import { addJobOptions, type JobOptions, parseJob } from '../options/job-options.ts';
import { checkRunOptions } from './check-options.ts';
import type { RunOptions } from './run-options.ts';

/** The command with the options that a program may give. */
export const runCommand = (): Command =>
  addClusterOptions(addJobOptions(new Command('run').argument('<source...>')))
    .exitOverride()
    .configureOutput({ writeOut() {}, writeErr() {} });

/**
 * Reads the options as if they were typed. Relative paths are seen from `folder`. Throws what the checks and the
 * command throw.
 */
export function readRun(given: RunOptions, folder: string): { request: SubmitRequest; choice: ClusterChoice } {
  const command = runCommand();
  const { sources, signal: _, note: __, ...options } = checkRunOptions(given, command.options);
  command.parse([...wordsOf(options), '--', ...[sources].flat()], { from: 'user' });
  const read: JobOptions & ClusterChoice = command.opts();
  checkClusterChoice(read);
  return { request: parseJob(command.args, read, folder), choice: read };
}

/** The words of a command line with the same meaning. */
export function wordsOf({ pipelines, grid, ...options }: Omit<RunOptions, 'sources' | 'signal' | 'note'>): string[] {
  const all: Record<string, unknown> = {
    ...options,
    pipeline: pipelines && Object.entries(pipelines).map(([name, ops]) => `${name}=${[ops].flat().join('+')}`),
    grid: typeof grid === 'object' ? `${grid.rows}x${grid.columns}` : grid,
  };
  return Object.entries(all).flatMap(([name, value]) => {
    const option = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (value === undefined || value === false) return [];
    return value === true ? [option] : [value].flat().map((one) => `${option}=${one}`);
  });
}

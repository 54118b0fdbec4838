import { aborted, createLog, shutdownSignal } from '@halogrid/service';
import type { Command } from 'commander';
import { deviceChoices, logLevels, oneOf } from '../options/option-values.ts';

interface NodeCommandOptions {
  coordinator: string;
  name?: string;
  device: string;
  http?: string;
  logLevel: string;
}

export function addNodeCommand(program: Command): void {
  program.command('node').action(async () => {});
}

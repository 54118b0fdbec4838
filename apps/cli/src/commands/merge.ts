import { shutdownSignal } from '@halogrid/service';
import { toFileUri } from '@halogrid/sources/to-uri';
import type { Command } from 'commander';
import { plainLogLine } from '../cluster/child.ts';
import { addQuietOption, addVerboseOption, checkVoice, type VoiceChoice } from '../options/voice-options.ts';
import { exitCodeOfSignal } from '../process/exit-code.ts';
import { plural } from '../progress/quantities.ts';
import { reportEnd } from '../summary/describe-summary.ts';

interface MergeOptions extends VoiceChoice {
  out: string;
  json?: boolean;
}

export function addMergeCommand(program: Command): void {
  const command = program
    .command('merge')
    .description(
      'Makes one output of all parts that runs with --part made: the files of one run. The parts stay as they are. Exits with 0: ' +
        'complete, 3: complete with quarantined inputs, 1: failed, 2: the parts do not fit together, or some are missing.',
    )
    .argument('<part...>', 'the output folders of all parts, in any order');
  addVerboseOption(addQuietOption(command))
    .requiredOption('-o, --out <dir>', 'the output folder')
    .option('--json', 'print a machine-readable summary on stdout')
    .action(async (folders: string[], options: MergeOptions) => {
      process.exitCode = await merge(folders, options);
    });
}

async function merge(folders: string[], options: MergeOptions): Promise<number> {
  checkVoice(options);
  const signal = shutdownSignal();
  if (!options.quiet) process.stderr.write(`Merging ${plural(folders.length, 'part')} into ${options.out}.\n`);
  const [{ mergeShares }, { createLog }, { systemClock }] = await Promise.all([
    import('@halogrid/coordinator/shares'),
    import('@halogrid/service/log'),
    import('@halogrid/service/clock'),
  ]);
  const write = (line: string): void => {
    if (options.verbose) process.stderr.write(`${plainLogLine(line.trimEnd())}\n`);
  };
  const context = { clock: systemClock, log: createLog('merge', 'info', { lines: { write } }) };
  try {
    const job = await mergeShares(folders, toFileUri(options.out, process.cwd()), context, signal);
    return await reportEnd(job, options);
  } catch (error) {
    if (signal.aborted) return exitCodeOfSignal(signal.reason);
    throw error;
  }
}

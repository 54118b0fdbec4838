import { shutdownSignal } from '@halogrid/service';
import { expandPrefix } from '@halogrid/sources/expand-prefix';
import { isBucketUri } from '@halogrid/sources/prefix-uri';
import { toOutUri } from '@halogrid/sources/to-uri';
import type { Command } from 'commander';
import { plainLogLine } from '../cluster/child.ts';
import { addScratchOption, type ScratchOption, setScratch } from '../options/set-scratch.ts';
import { addQuietOption, addVerboseOption, checkVoice, type VoiceChoice } from '../options/voice-options.ts';
import { exitCodeOfSignal } from '../process/exit-code.ts';
import { plural } from '../progress/quantities.ts';
import { reportEnd } from '../summary/describe-summary.ts';

interface MergeOptions extends VoiceChoice, ScratchOption {
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
    .argument(
      '<part...>',
      "the outputs of all parts, in any order: folders, s3://bucket/prefix, or 's3://bucket/part-*'",
    );
  addScratchOption(addVerboseOption(addQuietOption(command)))
    .requiredOption('-o, --out <dir|uri>', 'the output folder, or s3://bucket/prefix')
    .option('--json', 'print a machine-readable summary on stdout')
    .action(async (parts: string[], options: MergeOptions) => {
      process.exitCode = await merge(parts, options);
    });
}

async function merge(parts: string[], options: MergeOptions): Promise<number> {
  checkVoice(options);
  setScratch(options.scratch);
  const signal = shutdownSignal();
  const places = (await Promise.all(parts.map(placesOf))).flat();
  if (!options.quiet) process.stderr.write(`Merging ${plural(places.length, 'part')} into ${options.out}.\n`);
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
    const job = await mergeShares(places, toOutUri(options.out, process.cwd()), context, signal);
    return await reportEnd(job, options);
  } catch (error) {
    if (signal.aborted) return exitCodeOfSignal(signal.reason);
    throw error;
  }
}

/** The parts that an argument names: a folder, or what an s3: URI stands for. */
const placesOf = async (part: string): Promise<string[]> => (isBucketUri(part) ? expandPrefix(part) : [part]);

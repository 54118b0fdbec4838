import type { PassThrough } from '@halogrid/coordinator/plan';
import type { PlanRecorder } from '@halogrid/coordinator/shares';
import { named, sentence } from '@halogrid/proto/sentence';
import { shutdownSignal, UsageError } from '@halogrid/service';
import type { Command } from 'commander';
import { addJobOptions, type JobOptions, parseJob } from '../options/job-options.ts';
import { type DeviceChoice, deviceChoices, parseWord, wholeNumber } from '../options/option-values.ts';
import { addScratchOption, type ScratchOption, setScratch } from '../options/set-scratch.ts';
import { addQuietOption, type VoiceChoice } from '../options/voice-options.ts';
import { onlyPreviews } from '../plan/only-previews.ts';
import { exitCodeOfPlan, exitCodeOfSignal } from '../process/exit-code.ts';

interface PlanOptions extends JobOptions, ScratchOption, VoiceChoice {
  nodes: number;
  device: DeviceChoice;
  coordinator?: string;
  write?: string;
  json?: boolean;
}

export function addPlanCommand(program: Command): void {
  const command = program
    .command('plan')
    .description(
      'Plans a job as run would and shows its pixels, shards, memory, results, and time, estimated from earlier runs on this ' +
        'machine. It computes nothing. Exits with 2 and a remedy if the job does not fit, with 3 if every input would be quarantined.',
    )
    .argument('<source...>', 'as for run');
  addScratchOption(addQuietOption(addJobOptions(command)))
    .option('--nodes <n>', 'as for run', wholeNumber('--nodes', 1, 64), 1)
    .option('--device <kind>', 'as for run', parseWord('--device', deviceChoices), 'auto')
    .option(
      '--write <dir|uri>',
      "write the plan to this folder or s3://bucket/prefix, for 'halogrid run --plan PLAN --part I/N'",
    )
    .option('--coordinator <host:port>', 'refused: a plan is made on this machine')
    .option('--json', 'print JSON')
    .action(async (sources: string[], options: PlanOptions) => {
      if (options.write !== undefined && command.getOptionValueSource('out') === 'cli') {
        throw new UsageError(
          sentence`Expected ${named('--write')} or ${named('--out')} but received both: each part has an output folder of its own`,
        );
      }
      process.exitCode = await plan(sources, options);
    });
}

async function plan(
  sources: string[],
  { coordinator, json, quiet, nodes, device, write, scratch, ...job }: PlanOptions,
): Promise<number> {
  if (coordinator !== undefined) {
    throw new UsageError('Expected no --coordinator: a plan is made on this machine, which must see the sources');
  }
  setScratch(scratch);
  const { spec } = parseJob(sources, { ...job, out: write ?? job.out }, process.cwd());
  // The plan of one share is the plan of any number.
  if (write !== undefined) spec!.share = { number: 1, of: 1, plan: '', splitImages: false };
  const signal = shutdownSignal();
  const { makePlan } = await import('../plan/make-plan.ts');
  const { describePlan } = await import('../plan/describe-plan.ts');
  const recorder = write === undefined ? undefined : await openRecorder();
  try {
    const asked = { nodes, device, ownThreads: 1 };
    const through: PassThrough | undefined = recorder && ((spec, steps) => recorder.record(spec, steps));
    const { plan, notes, quarantine } = await makePlan(spec!, asked, signal, undefined, undefined, through);
    await recorder?.finish();
    const further = [plan.advice && `${plan.advice}.`, onlyPreviews(spec!)].filter((note) => note != null);
    if (!quiet) for (const note of [...notes, ...further]) console.error(note);
    const whole = { ...plan, notes, quarantine };
    process.stdout.write(json ? `${JSON.stringify(whole, null, 2)}\n` : describePlan(plan, quarantine));
    return exitCodeOfPlan(plan);
  } catch (error) {
    await recorder?.abandon();
    if (signal.aborted) return exitCodeOfSignal(signal.reason);
    throw error;
  }
}

async function openRecorder(): Promise<PlanRecorder> {
  const [{ PlanRecorder }, { createLog }, { systemClock }] = await Promise.all([
    import('@halogrid/coordinator/shares'),
    import('@halogrid/service/log'),
    import('@halogrid/service/clock'),
  ]);
  return new PlanRecorder({ clock: systemClock, log: createLog('plan', 'silent') });
}

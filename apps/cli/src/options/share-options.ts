import type { Share, SubmitRequest } from '@halogrid/proto';
import { maxShares } from '@halogrid/proto/job-limits';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import { toOutUri } from '@halogrid/sources/to-uri';
import { Command, CommanderError } from 'commander';
import { addJobOptions, type JobOptions, parseJob } from './job-options.ts';

/** What the options of `addShareOptions` parse to. */
export interface ShareChoice {
  part?: Pick<Share, 'number' | 'of'>;
  plan?: string;
  splitImages?: boolean;
}

/** Adds the options for runs that share one job. */
export function addShareOptions(command: Command): Command {
  return command
    .option(
      '--part <I/N>',
      "compute only part I of N, from 1; 'halogrid merge' makes one output of all parts",
      readPart,
    )
    .option('--plan <dir|uri>', "with --part: read the plan that 'halogrid plan --write' made, instead of sources")
    .option('--split-images', 'with --part: let parts share the tiles of an image');
}

function readPart(text: string): Pick<Share, 'number' | 'of'> {
  const [, number = Number.NaN, of = Number.NaN] = (/^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(text) ?? []).map(Number);
  if (number <= of && of <= maxShares) return { number, of };
  throw new UsageError(
    sentence`Expected I/N with I from 1 to N and N up to ${maxShares}, such as 2/10, for ${named('--part')} but received '${text}'`,
  );
}

/**
 * The request for the job, or share of a job, that the options of `command` describe. With a plan, the options of the
 * job are the plan's. Throws UsageError, and CommanderError if there are no sources.
 */
export async function parseSharedJob(
  sources: readonly string[],
  options: JobOptions & ShareChoice & { coordinator?: string; coordinatorFile?: string },
  command: Pick<Command, 'getOptionValueSource'>,
  folder: string,
): Promise<SubmitRequest> {
  const { part, plan, splitImages = false, coordinator, coordinatorFile } = options;
  if (!part) {
    const alone = plan !== undefined ? '--plan' : splitImages ? '--split-images' : undefined;
    if (alone) throw new UsageError(sentence`Expected ${named('--part')} with ${named(alone)}`);
    requireSources(sources);
    return parseJob(sources, options, folder);
  }
  const cluster = coordinator ? '--coordinator' : coordinatorFile ? '--coordinator-file' : undefined;
  if (cluster) {
    throw new UsageError(
      sentence`Expected ${named('--part')} or ${named(cluster)} but received both: a cluster divides its jobs itself`,
    );
  }
  if (plan === undefined) {
    requireSources(sources);
    const { spec, nameOutByJob } = parseJob(sources, options, folder);
    return { spec: { ...spec!, share: { ...part, plan: '', splitImages } }, nameOutByJob };
  }
  if (sources.length > 0) {
    throw new UsageError(
      sentence`Expected no sources with ${named('--plan')} but received '${sources[0]}': the plan has its own`,
    );
  }
  const typed = jobOptions().find((name) => command.getOptionValueSource(name.attribute) === 'cli');
  if (typed) {
    throw new UsageError(
      sentence`Expected no ${named(typed.long)} with ${named('--plan')}: give it to 'halogrid plan … --write'`,
    );
  }
  const { readPlan } = await import('@halogrid/coordinator/shares');
  const out = toOutUri(options.out ?? 'halogrid-out', folder);
  return { spec: await readPlan(plan, { ...part, splitImages }, out), nameOutByJob: options.out === undefined };
}

function requireSources([first]: readonly string[]): void {
  if (first === undefined)
    throw new CommanderError(2, 'commander.missingArgument', "missing required argument 'source'");
}

/** Options of a job that a plan has settled. */
const jobOptions = (): { attribute: string; long: string }[] =>
  addJobOptions(new Command())
    .options.map((option) => ({ attribute: option.attributeName(), long: option.long! }))
    .filter(({ attribute }) => attribute !== 'out' && attribute !== 'fresh');

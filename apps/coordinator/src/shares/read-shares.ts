import type { JobSpec } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { isSameWork } from '../output/job-claim.ts';
import { checkLog, type LoggedClaim, readLoggedClaim } from '../output/logged-output.ts';
import { specDifferences } from '../output/spec-differences.ts';

/** What a share did. */
export interface ShareOutput {
  /** Path of its folder, or its s3: URI. */
  at: string;
  claim: LoggedClaim;
}

/**
 * Reads the claims of these folders and s3: URIs, which must be all parts of one output: of one job, each once. Throws
 * UsageError with a sentence that names them or the missing parts. Whether they have the same plan is not checked.
 */
export async function readShares(places: readonly string[]): Promise<[ShareOutput, ...ShareOutput[]]> {
  const shares: ShareOutput[] = [];
  for (const at of places) shares.push({ at, claim: await readLoggedClaim(at, 'part') });
  const [first, ...others] = shares;
  if (!first) throw new UsageError('Expected the folders of all parts but received none');
  for (const other of others) checkSame(first, other);
  checkWhole([first, ...others]);
  for (const { at, claim } of [first, ...others]) await checkLog(at, claim);
  return [first, ...others];
}

function checkSame(first: ShareOutput, other: ShareOutput): void {
  const [one, two] = [first.claim.specification, other.claim.specification];
  const both = `'${first.at}' and '${other.at}'`;
  if (!isSameWork(first.claim, two)) {
    const [what] = specDifferences(workOf(one), workOf(two));
    const how = what ? `: in the latter ${what.field} is ${what.now}, in the former ${what.before}` : '';
    throw new UsageError(`Expected parts of one job but ${both} differ${how}`);
  }
  const [share, its] = [shareOf(first), shareOf(other)];
  if (share.of !== its.of) {
    throw new UsageError(`Expected parts of one cut but received ${nameOf(first)} and ${nameOf(other)}`);
  }
  if (share.splitImages !== its.splitImages) {
    throw new UsageError(`Expected parts of one cut but one of ${both} was made with --split-images`);
  }
}

function checkWhole(shares: readonly ShareOutput[]): void {
  const { of } = shareOf(shares[0]!);
  const byNumber = Map.groupBy(shares, (share) => shareOf(share).number);
  for (const [number, [one, two]] of byNumber) {
    if (!one || !two) continue;
    throw new UsageError(`Expected each part once but part ${number} of ${of} is '${one.at}' and '${two.at}'`);
  }
  const missing = Array.from({ length: of }, (_, i) => i + 1).filter((number) => !byNumber.has(number));
  if (missing.length > 0) {
    const list = rangesOf(missing).join(', ');
    throw new UsageError(
      missing.length === 1
        ? `Expected all ${of} parts but part ${list} is missing`
        : `Expected all ${of} parts but ${missing.length} are missing: ${list}`,
    );
  }
}

export const shareOf = ({ claim }: ShareOutput): NonNullable<JobSpec['share']> => claim.specification.share!;

const nameOf = (share: ShareOutput): string => `'${share.at}' (part ${shareOf(share).number} of ${shareOf(share).of})`;

/** The specification without what parts of one output may differ in. */
const workOf = ({ share: _, ...spec }: JobSpec): JobSpec => spec;

/** `1-3`, `5`. */
function rangesOf(numbers: readonly number[]): string[] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`));
}

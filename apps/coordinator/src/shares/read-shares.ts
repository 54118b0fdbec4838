import type { JobSpec } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { isSameWork } from '../output/job-claim.ts';
import { checkFolderLog, type LoggedClaim, readLoggedClaim } from '../output/logged-folder.ts';
import { specDifferences } from '../output/spec-differences.ts';

/** A folder with what a share did. */
export interface ShareFolder {
  folder: string;
  claim: LoggedClaim;
}

/**
 * Reads the claims of the folders, which must be all parts of one output: of one job, each once. Throws UsageError with
 * a sentence that names the folders or the missing parts. Whether they have the same plan is not checked.
 */
export async function readShares(folders: readonly string[]): Promise<[ShareFolder, ...ShareFolder[]]> {
  const shares: ShareFolder[] = [];
  for (const folder of folders) shares.push({ folder, claim: await readLoggedClaim(folder, 'part') });
  const [first, ...others] = shares;
  if (!first) throw new UsageError('Expected the folders of all parts but received none');
  for (const other of others) checkSame(first, other);
  checkWhole([first, ...others]);
  for (const { folder, claim } of [first, ...others]) await checkFolderLog(folder, claim);
  return [first, ...others];
}

function checkSame(first: ShareFolder, other: ShareFolder): void {
  const [one, two] = [first.claim.specification, other.claim.specification];
  const both = `'${first.folder}' and '${other.folder}'`;
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

function checkWhole(shares: readonly ShareFolder[]): void {
  const { of } = shareOf(shares[0]!);
  const byNumber = Map.groupBy(shares, (share) => shareOf(share).number);
  for (const [number, [one, two]] of byNumber) {
    if (!one || !two) continue;
    throw new UsageError(`Expected each part once but part ${number} of ${of} is '${one.folder}' and '${two.folder}'`);
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

export const shareOf = ({ claim }: ShareFolder): NonNullable<JobSpec['share']> => claim.specification.share!;

const nameOf = (share: ShareFolder): string =>
  `'${share.folder}' (part ${shareOf(share).number} of ${shareOf(share).of})`;

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

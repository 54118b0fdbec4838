import { sourceText } from '@halogrid/jobs/plan-digest';
import type { LogReader } from '@halogrid/ledger';
import { UsageError } from '@halogrid/service';
import { redactUri } from '@halogrid/sources';
import type { BlockSource } from '@halogrid/sources/source-block';
import { withLog } from '../output/logged-output.ts';
import { type ShareOutput, shareOf } from './read-shares.ts';

/**
 * Throws UsageError if the shares have different plans. It names the first source that was listed differently: its file
 * came, went or changed between two runs.
 */
export async function checkPlans([first, ...others]: readonly [ShareOutput, ...ShareOutput[]]): Promise<void> {
  const other = others.find(({ claim }) => claim.plan !== first.claim.plan);
  if (!other) return;
  const what = await withLog(first, (one) => withLog(other, (two) => firstDifference(one, two)));
  throw new UsageError(
    `Expected parts of one list of sources but part ${shareOf(first).number} ('${first.at}') ${what.one}, and part ` +
      `${shareOf(other).number} ('${other.at}') ${what.two}: make the parts from one plan (halogrid plan … --write PLAN)`,
  );
}

function firstDifference(one: LogReader, two: LogReader): { one: string; two: string } {
  for (let index = 0; index < Math.max(one.sources, two.sources); index++) {
    const [a, b] = [one, two].map((log) => (index < log.sources ? log.source(index) : undefined));
    if (a && b && sourceText(a) === sourceText(b)) continue;
    const isSameFile = a?.uri === b?.uri && a?.video?.frame === b?.video?.frame;
    return { one: describe(a, isSameFile), two: describe(b, isSameFile) };
  }
  return { one: `cut ${one.sources} sources in one way`, two: 'in another' };
}

function describe(source: BlockSource | undefined, withFacts: boolean): string {
  if (!source) return 'lists nothing there';
  const frame = source.video ? ` (frame ${source.video.frame})` : '';
  const { version, error } = source;
  const facts = error ? `which cannot be read: ${error.error}` : `of version ${version ?? 'unknown'}`;
  return `lists '${redactUri(source.uri)}'${frame}${withFacts ? ` ${facts}` : ''}`;
}

import type { InputFault } from '@halogrid/sources';
import type { Eyes } from './own-view.ts';

/** Other files of the host that are asked for. */
const mostOthers = 2;

/**
 * Whether it is a host or bucket that cannot be had, by two requests: one for `uri`, which failed with that fault, and one for another of its
 * files, or for the same again where none is known. One is closed as a whole where another file of it is refused as well.
 */
export async function isHostGone(
  eyes: Pick<Eyes, 'see'>,
  { uri, fault }: { uri: string; fault: InputFault },
  listed: readonly string[],
): Promise<boolean> {
  if (fault !== 'away' && fault !== 'closed') return false;
  const others = listed.filter((other) => other !== uri).slice(0, mostOthers);
  if (fault === 'closed' && others.length === 0) return false;
  const views = await Promise.all((others.length > 0 ? others : [uri]).map((other) => eyes.see(other, false)));
  return views.every((view) => view.kind === 'not there' && (view.fault === 'away' || view.fault === fault));
}

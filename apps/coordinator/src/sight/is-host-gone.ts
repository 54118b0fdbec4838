import type { InputFault } from '@halogrid/sources';
import type { Eyes } from './own-view.ts';

/** How many other files of the host are requested. */
const mostOthers = 2;

/**
 * Whether a whole host or bucket fails, rather than the file `uri`, whose request failed with `fault`. It requests
 * other listed files of the host, or the same file again if no other is known: all must fail. A host is closed only if
 * another of its files is refused as well.
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

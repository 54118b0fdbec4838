import { placeInWords } from '@halogrid/proto';
import type { AwayHost } from '@halogrid/sources';

/** Who cannot read from a host or bucket, and why. */
export interface HostLack extends AwayHost {
  /** The coordinator, or nodes. */
  who: string;
}

/** What a job says while it waits for the host or bucket. */
export const waitsForHost = (lack: HostLack): string => `It waits for ${placeInWords(lack.place)}: ${sayLack(lack)}`;

/** Why a job gives up after it has waited for `waitedMs`, and what to do. */
export function hostStaysAway(lack: HostLack, waitedMs: number): string {
  const forLong = waitedMs >= 1000 ? ` for ${Math.round(waitedMs / 1000)} s` : '';
  return (
    `The ${placeInWords(lack.place)} was away${forLong}, as long as the job waits for it: ${sayLack(lack)}; mend its address, the network or ` +
    'the keys, then run the same command again: it continues from here'
  );
}

/** The callers' sentences name the place already, so this one says "it". */
const sayLack = ({ who, place, reason }: HostLack): string =>
  `${who} cannot read from it: ${reason.replace(`The ${placeInWords(place)} `, 'it ')}`;

/** The lack that stops the planning of a job: the coordinator itself cannot read from the place. */
export const coordinatorLack = (away: AwayHost): HostLack => ({ ...away, who: 'the coordinator' });

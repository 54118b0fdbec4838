import type { Searched } from '@halogrid/retrieval';
import type { Log } from '@halogrid/service';
import type { Metrics } from './work-metrics.ts';

type SearchMetrics = Pick<Metrics, 'searches' | 'searchSeconds' | 'searchedFrames' | 'searchPartsFailed'>;

/** Counts a search by who searched (nodes, the coordinator, or both), and logs the nodes that failed to search. */
export function tellOfSearch({ looked, failed, seconds }: Searched, metrics: SearchMetrics, log: Log): void {
  const isOurs = looked.some(({ by }) => by === 'coordinator');
  const isTheirs = looked.some(({ by }) => by !== 'coordinator');
  const by = isTheirs ? (isOurs ? 'both' : 'nodes') : 'coordinator';
  metrics.searches.inc({ by });
  metrics.searchSeconds.observe({ by }, seconds);
  for (const { by: device, frames } of looked) metrics.searchedFrames.inc({ device }, frames);
  metrics.searchPartsFailed.inc(failed.length);
  for (const { node, why } of failed) {
    log.warn({ nodeId: node }, `A part of an index is searched elsewhere than on its node: ${why}`);
  }
}

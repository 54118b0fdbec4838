import type { Shard } from '../job/shard.ts';
import type { Place, ScheduledJob } from './scheduler-state.ts';

/** The image that a tile is cut from, or the folder of the first frame. */
function uriOf({ work }: Shard): string {
  if (work.kind === 'tile') return work.source.uri;
  const uri = work.sources[0]?.uri ?? '';
  return uri.slice(0, uri.lastIndexOf('/') + 1);
}

/** The place of the next shard of the plan, which it shares with the shard before where they read the same. */
export function placeOf(job: ScheduledJob, shard: Shard): Place {
  const uri = uriOf(shard);
  if (job.lastPlace?.uri !== uri) job.lastPlace = { uri, isTaken: false };
  return job.lastPlace;
}

// A worker thread of PlanThreads, like plan-worker.ts of the coordinator, but for frames of an archive that does not
// exist.
import type { Source } from '@halogrid/sources';
import { serveListings } from '../../../apps/coordinator/src/plan/serve-listings.ts';

/** The source in the specification of the job ends with the number of frames. */
async function* list([uri]: Iterable<string>): AsyncGenerator<Source[]> {
  const frames = Number(uri!.split('/').at(-1));
  let listed: Source[] = [];
  for (let index = 0; index < frames; index++) {
    const name = `2026-01-31/camera-07/frame-${String(index).padStart(8, '0')}.jpg`;
    const version = `20000 17${String(index).padStart(8, '0')}.25`;
    listed.push({ uri: `file:///archive/${name}`, name, sizeBytes: 20_000, named: false, version });
    if (listed.length < 64) continue;
    yield listed;
    listed = [];
  }
  yield listed;
}

serveListings(list);

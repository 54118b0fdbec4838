import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import type { CameraEvent, CameraTimeline, ChangesRequest, ChangesResponse } from '@halogrid/proto';
import { placeAt } from '@halogrid/results/place';
import {
  type CameraChanges,
  type ChangeEvent,
  countsOfCell,
  type FinishedJob,
  findChanges,
  type Moment,
  readFeatures,
  readFinishedJob,
  readOf,
} from '@halogrid/search';
import { allowedPlace } from './allowed-place.ts';
import { shownFrame } from './known-frame.ts';
import type { Tickets } from './tickets.ts';

/** The most cameras of an answer, and the most events of each camera: an answer is one message. */
const most = { cameras: 64, events: 500 };

/** What changed in the cameras of the job whose output is at a path or s3: URI. The request is checked before. */
export async function findCameraChanges(
  place: string,
  { pipeline, minDuration, threshold, camera }: ChangesRequest,
  tickets: Tickets,
): Promise<ChangesResponse> {
  const job = await readFinishedJob(await partOf(place, pipeline));
  // The folder may be read, but a link in it may lead elsewhere.
  await allowedPlace(job.features);
  const shape = { ...job.pipeline.grid, bins: countsOfCell(job.pipeline) };
  const options = { minDuration: minDuration || 16, times: threshold || 8, camera: camera || undefined };
  const found = await findChanges(readFeatures(job), shape, options);
  const frames = found.reduce((sum, one) => sum + one.frames, 0);
  if (frames < 2) throw new Refusal('unmet', 'The job has fewer than two frames, so nothing can have changed');
  return {
    cameras: found.slice(0, most.cameras).map((one) => timelineOf(one, job, tickets)),
    leftOut: Math.max(0, found.length - most.cameras),
    ...job.pipeline.grid,
  };
}

/** The output of one of a job's pipelines. A single pipeline without a name has the job's own place. */
async function partOf(at: string, pipeline: string): Promise<string> {
  const parts = placeAt(at).in('pipelines');
  const names = ((await parts.entries()) ?? []).map(({ name }) => name);
  if (names.length === 0 && pipeline === '') return at;
  if (names.includes(pipeline)) return parts.in(pipeline).at;
  const known =
    names.length > 0 ? `one of ${names.join(', ')}` : 'no name, because the job has one pipeline without a name,';
  return refuseValue('pipeline', pipeline, known);
}

function timelineOf(
  { events, timeline, ...camera }: CameraChanges,
  { out, pipeline }: FinishedJob,
  tickets: Tickets,
): CameraTimeline {
  const read = readOf(pipeline);
  const frameOf = ({ uri, frame, isVideo }: Moment) => shownFrame({ uri, frame, isVideo, read, out }, tickets);
  const chosen = chooseEvents(events, most.events);
  return {
    ...camera,
    timeline: timeline.map(({ time, step, reference }) => ({ time, step: short(step), reference: short(reference) })),
    events: chosen.map(({ kind, start, end, strength, cells, before, after }): CameraEvent => {
      const shown = { before: frameOf(before), after: frameOf(after) };
      return { kind, start: start.time, end: end.time, strength: short(strength), cells, ...shown };
    }),
    eventsLeftOut: events.length - chosen.length,
  };
}

/** Chooses at most `count` events, lasting before passing, then strong before weak. Returns them in order of time. */
export function chooseEvents(events: readonly ChangeEvent[], count: number): ChangeEvent[] {
  const isPassing = ({ kind }: ChangeEvent): number => Number(kind === 'passing');
  return events
    .toSorted((a, b) => isPassing(a) - isPassing(b) || b.strength - a.strength)
    .slice(0, count)
    .sort((a, b) => a.start.time - b.start.time);
}

/** Rounds to four decimals, because all digits of a float64 make JSON long. */
const short = (value: number): number => Math.round(value * 1e4) / 1e4;

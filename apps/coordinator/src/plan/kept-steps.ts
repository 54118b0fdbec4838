import type { Source } from '@halogrid/imaging';
import type { PlanStep } from '../job/shard.ts';
import type { EarlierOutput } from '../output/previous/earlier-output.ts';
import { nameOfFrame } from './plan-video-steps.ts';

/** The part of a plan that a file makes whose earlier results hold: each of its sources, and that it is kept. */
export async function* keptSteps(
  { uri, name, version }: Source,
  results: ReturnType<EarlierOutput['results']>,
  nextSource: () => number,
): AsyncGenerator<PlanStep, void, undefined> {
  for await (const { line, result } of results) {
    const index = nextSource();
    const { frame, timestampMs = null } = line;
    const source = frame === undefined ? { name } : { name: nameOfFrame(name, frame), video: { frame, timestampMs } };
    yield { kind: 'source', index, uri, size: result.size, tiles: 1, version, ...source };
    yield { kind: 'kept', index, name: line.name, result };
  }
}

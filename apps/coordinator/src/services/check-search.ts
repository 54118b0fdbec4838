import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import {
  type ChangesRequest,
  isPipelineName,
  type ListFramesRequest,
  pipelineNames,
  type SearchRequest,
} from '@halogrid/proto';
import { distanceNames } from '@halogrid/search/distance-names';
import { checkChangesBounds, checkListFramesBounds, checkSearchBounds } from './check-bounds.ts';

/** Throws Refusal for a request that no index could answer. Returns the request. */
export function checkSearch(request: SearchRequest): SearchRequest {
  checkSearchBounds(request);
  const { query, region, distance, top, perSource, group, sinceMs, untilMs } = request;
  if (!query) refuseValue('the query', 'none', 'a row, a frame or an image', 'query');
  if (query.$case === 'image' && query.value.length === 0)
    refuseValue('the image', '0 bytes', 'an image file', 'image');
  if (distance !== '' && !distanceNames.some((name) => name === distance)) {
    refuseValue('distance', distance, `one of ${distanceNames.join(', ')}`);
  }
  checkMost('top', top, 1_000);
  checkMost('per_source', perSource, 1_000);
  checkMost('group', group, 1_000_000);
  if (region && (region.width === 0 || region.height === 0)) {
    refuseValue('region', `${region.width}x${region.height}`, 'pixels');
  }
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs) {
    refuseValue('since_ms', sinceMs, `at most until_ms, which is ${untilMs},`);
  }
  return request;
}

/** As `checkSearch`. */
export function checkListFrames(request: ListFramesRequest): ListFramesRequest {
  checkListFramesBounds(request);
  checkMost('count', request.count, 200);
  return request;
}

/** As `checkSearch`. */
export function checkChanges(request: ChangesRequest): ChangesRequest {
  const { jobId, out, minDuration, threshold, pipeline } = checkChangesBounds(request);
  if ((jobId === '') === (out === '')) {
    throw new Refusal('invalid', `Expected job_id or out but received ${jobId === '' ? 'neither' : 'both'}`, 'job_id');
  }
  if (pipeline !== '' && !isPipelineName(pipeline)) refuseValue('pipeline', pipeline, pipelineNames);
  checkMost('min_duration', minDuration, 86_400);
  checkMost('threshold', threshold, 1_000);
  return request;
}

function checkMost(what: string, value: number, most: number): void {
  if (value > most) refuseValue(what, value, `at most ${most}`);
}

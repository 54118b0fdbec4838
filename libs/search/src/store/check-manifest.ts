import { maxImageBins } from '@halogrid/kernels';
import { countArrays } from '../scan/count-arrays.ts';
import type { IndexedJob, Manifest, Segment, StoredBlock } from './manifest.ts';
import type { PipelineIdentity } from './pipeline-identity.ts';

/** The most frames of an index: their numbers are 32-bit integers. */
const mostFrames = 2 ** 32;

const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown, most = mostFrames): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most;
const isListOf = <T>(list: unknown, isOne: (one: T) => boolean): list is T[] =>
  Array.isArray(list) && list.every((one) => one instanceof Object && isOne(one));
const sum = (list: readonly { frames: number }[]): number => list.reduce((all, { frames }) => all + frames, 0);

/**
 * Whether a manifest has the form and sizes that a writer gives it. Anybody may have made the manifest, and its hash
 * does not show that.
 */
export function isSoundManifest({ pipeline, segments, nextSegment }: Manifest): boolean {
  return (
    isCount(nextSegment, Number.MAX_SAFE_INTEGER) &&
    pipeline instanceof Object &&
    isSoundPipeline(pipeline) &&
    isListOf<Segment>(segments, isSoundSegment) &&
    sum(segments) <= mostFrames
  );
}

function isSoundPipeline(pipeline: PipelineIdentity): boolean {
  const { operations, grid, bands, scale, level, page, channels, bins, convention, resultsVersion } = pipeline;
  const isOperation = ({ kernel, parameters, border }: PipelineIdentity['operations'][number]): boolean =>
    isText(kernel) && isText(border) && parameters instanceof Object && Object.values(parameters).every(isText);
  return (
    isListOf(operations, isOperation) &&
    operations.length > 0 &&
    isCount(grid?.rows) &&
    isCount(grid.columns) &&
    (bands === undefined || (Array.isArray(bands) && bands.every((band) => isCount(band)))) &&
    (scale === undefined || [scale?.min, scale?.max, scale?.bits].every(Number.isFinite)) &&
    (level === undefined || isText(level)) &&
    (page === undefined || isCount(page)) &&
    Array.isArray(channels) &&
    channels.every(isText) &&
    isCount(bins) &&
    isText(convention) &&
    isCount(resultsVersion) &&
    isCount(grid.rows * grid.columns * channels.length * bins, maxImageBins) &&
    grid.rows * grid.columns * channels.length * bins > 0
  );
}

function isSoundSegment({ name, jobs, frames, rows, blocks }: Segment): boolean {
  const isJob = (job: IndexedJob): boolean =>
    [job.id, job.digest, job.out, job.sources].every(isText) && isCount(job.frames);
  const isBlock = (block: StoredBlock): boolean =>
    isCount(block.frames) && Object.hasOwn(countArrays, block.width) && isCount(block.crc32);
  return (
    isText(name) &&
    isCount(frames) &&
    isListOf(jobs, isJob) &&
    isListOf(blocks, isBlock) &&
    sum(jobs) === frames &&
    sum(blocks) === frames &&
    rows instanceof Object &&
    isCount(rows.texts) &&
    isCount(rows.bytes, Number.MAX_SAFE_INTEGER) &&
    isCount(rows.crc32)
  );
}

import { shownPath } from './sentences.js';

/** @import { AskedPipeline, JobSpec } from '@halogrid/proto' */

/**
 * What a job was asked for, without defaults: names, each with one value or several.
 *
 * @param {JobSpec} spec
 * @param {readonly AskedPipeline[]} asked
 * @returns {[name: string, values: string[]][]}
 */
export function specRows(spec, asked) {
  const { grid, video, captured, filter, band, scale, maxQuarantined } = spec;
  const isDivided = (grid?.rows ?? 1) * (grid?.columns ?? 1) > 1;
  /** @type {[string, string | number | false | undefined][]} */
  const options = [
    ['grid', isDivided && `${grid?.rows} × ${grid?.columns} cells`],
    ['maps', spec.mapFormat !== 'none' && spec.mapFormat],
    ['tile side', spec.tilePx > 0 && `${spec.tilePx} px`],
    ['frames per shard', spec.batchFrames > 0 && spec.batchFrames],
    ['priority', spec.priority],
    ['verified', spec.verifyPercent && `${spec.verifyPercent} % of shards`],
    ['video', video && describeVideo(video)],
    ['include', filter?.include.join(' ')],
    ['exclude', filter?.exclude.join(' ')],
    ['column', spec.column],
    ['NoData', spec.nodata],
    ['masks', spec.mask && shownPath(spec.mask)],
    ['level', spec.level],
    ['page', spec.page],
    [band && (band.all || band.numbers.length > 1) ? 'bands' : 'band', band && describeBands(band)],
    ['scale', scale && `${scale.min} to ${scale.max}, ${scale.bits} bits`],
    ['captured', captured && [captured.from, captured.zone].filter(Boolean).join(', ')],
    ['fail above', maxQuarantined && describeLimit(/** @type {{}} */ (maxQuarantined))],
    ['compare', spec.checksum && 'files by SHA-256'],
    ['earlier results', spec.fresh && 'not reused'],
    ['no node available', spec.waitForNode && 'the job waits for one'],
  ];
  return [
    ...asked.map(({ name, operations }) => /** @type {[string, string[]]} */ ([name || 'kernels', operations])),
    ...options.flatMap(([name, value]) => /** @type {[string, string[]][]} */ (value ? [[name, [String(value)]]] : [])),
    ['sources', spec.sources.map(shownPath)],
    ['output', [shownPath(spec.out)]],
  ];
}

/** @param {NonNullable<JobSpec['band']>} band */
const describeBands = ({ numbers, all }) => (all ? `all (${numbers.length})` : numbers.join(', '));

/** @param {NonNullable<JobSpec['video']>} video */
function describeVideo({ every, fromMs, toMs, fpsNum, fpsDen, hwaccel }) {
  const words = [
    every > 1 && `every ${every} frames`,
    fpsNum > 0 && fpsDen > 0 && `${fpsNum / fpsDen} frames a second`,
    fromMs !== undefined && `from ${fromMs / 1000} s`,
    toMs !== undefined && `to ${toMs / 1000} s`,
    hwaccel && `decoded by ${hwaccel}`,
  ];
  return words.filter(Boolean).join(', ');
}

/** @param {{ inputs?: number, percent?: number }} limit as JSON has it */
const describeLimit = ({ inputs, percent }) =>
  percent === undefined ? `${inputs} quarantined inputs` : `${percent} % quarantined`;

import { describeBytes, describeCount, describePixels } from './quantities.js';
import { describeReason } from './sentences.js';

/** @import { PlanAnswer } from '@halogrid/proto' */

/** A plan as rows of a table: names and values. @param {PlanAnswer} plan @returns {[name: string, value: string][]} */
export function planRows(plan) {
  const { sources, kept, quarantined, unknown, pixels, shards, videoFrames, mapsBytes, featuresBytes, scratchBytes } =
    plan;
  const found = [
    describeCount(sources),
    ...(kept > 0 ? [`${describeCount(kept)} unchanged since the last run`] : []),
    ...(videoFrames > 0 ? [`${describeCount(videoFrames)} frames of videos`] : []),
    ...(quarantined > 0 ? [`${describeCount(quarantined)} cannot be read`] : []),
    ...(unknown > 0 ? [`${describeCount(unknown)} of unknown size`] : []),
  ];
  const files = [
    ...(mapsBytes > 0 ? [`maps ${describeBytes(mapsBytes)}`] : []),
    ...(featuresBytes > 0 ? [`features ${describeBytes(featuresBytes)}`] : []),
  ];
  return [
    ...(plan.isPart ? [/** @type {[string, string]} */ (['so far', 'this is what was found in ten seconds'])] : []),
    ['sources', found.join(', ')],
    ['pixels', describePixels(pixels)],
    ['shards', describeCount(shards)],
    ['output', files.length > 0 ? `${files.join(', ')}, at most` : 'previews and sums'],
    ...(scratchBytes > 0
      ? [/** @type {[string, string]} */ (['while running', `${describeBytes(scratchBytes)} more`])]
      : []),
    ...plan.reasons.map((reason) => /** @type {[string, string]} */ (['cannot be read', describeReason(reason)])),
    ...plan.notes.map((note) => /** @type {[string, string]} */ (['note', note])),
  ];
}

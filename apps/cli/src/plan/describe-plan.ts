import { describeReason } from '@halogrid/console/sentences.js';
import type { QuarantineReason } from '@halogrid/proto';
import { table } from '@halogrid/service/text-table';
import { describePixels, describeSeconds, plural } from '../progress/quantities.ts';
import type { JobPlan } from './job-plan.ts';

/** A plan as a table for people, with the reasons why it sets inputs aside. */
export function describePlan(plan: JobPlan, quarantine: readonly QuarantineReason[] = []): string {
  const {
    sources,
    kept,
    quarantined,
    unknown,
    pixels,
    shards,
    tiles,
    segments,
    videoFrames,
    haloPercent,
    output,
    estimatedSeconds,
  } = plan;
  const asides = [
    kept > 0 && `${count(kept)} skipped, as the last run has them`,
    videoFrames > 0 && `${count(videoFrames)} frames of videos`,
    quarantined > 0 && `${count(quarantined)} cannot be read`,
    unknown > 0 && `${count(unknown)} of unknown size`,
  ].filter(Boolean);
  const parts = [
    tiles > 0 && `${count(tiles)} of tiles`,
    segments > 0 && `${count(segments)} of videos`,
    shards > tiles + segments && `${count(shards - tiles - segments)} of frames`,
  ];
  const files = [
    output.mapsBytes > 0 && `maps ${describeBytes(output.mapsBytes)}`,
    output.featuresBytes > 0 && `features ${describeBytes(output.featuresBytes)}`,
    output.histogramBytes > 0 && `histogram ${describeBytes(output.histogramBytes)}`,
  ].filter(Boolean);
  const time = estimatedSeconds === null ? 'not measured yet' : `about ${describeSeconds(estimatedSeconds)}`;
  return table([
    ['sources', [count(sources), ...asides].join(', ')],
    ...quarantine.map((reason, i) => [i === 0 ? 'quarantined' : '', describeReason(reason)]),
    ['pixels', describePixels(pixels)],
    ['shards', `${count(shards)} (${parts.filter(Boolean).join(', ') || 'nothing to compute'})`],
    ['read around tiles', `${haloPercent.toFixed(2)} % more pixels`],
    ['memory of a node', `${describeBytes(plan.nodeMemoryBytes)} for planes and results`],
    ['output', files.length > 0 ? `${files.join(', ')}, at most` : 'previews alone'],
    ['disk while it runs', `${describeBytes(plan.scratchBytes)} more`],
    ['time', time],
  ]);
}

/** A plan in one line. */
export function describePlanShortly({ sources, kept, pixels, shards, output, estimatedSeconds }: JobPlan): string {
  const { mapsBytes, featuresBytes, histogramBytes } = output;
  const facts = [
    plural(sources, 'source'),
    kept > 0 && `${count(kept)} of them skipped`,
    describePixels(pixels),
    plural(shards, 'shard'),
    `at most ${describeBytes(mapsBytes + featuresBytes + histogramBytes)} of results`,
    estimatedSeconds !== null && `about ${describeSeconds(estimatedSeconds)}`,
  ];
  return `Plan: ${facts.filter(Boolean).join(', ')}.`;
}

/** Bytes in three digits: `37.1 MB`. */
export function describeBytes(bytes: number): string {
  return describePixels(bytes).replace(/px$/, 'B');
}

const count = (n: number): string => n.toLocaleString('en');

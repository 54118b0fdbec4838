import { describeReason } from '@halogrid/console/words/sentences.js';
import type { QuarantineReason } from '@halogrid/proto';
import { describeBytes } from '@halogrid/service/describe-bytes';
import { table } from '@halogrid/service/text-table';
import { describePixels, plural } from '../progress/quantities.ts';
import type { JobPlan } from './job-plan.ts';

/** A smaller slowdown is not shown: runs of one job differ as much. */
const toldSlowdown = 1.5;

/** A plan as a table for people, with the reasons for quarantined inputs. */
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
    estimate,
  } = plan;
  const { slowdown } = estimate;
  const asides = [
    kept > 0 && `${count(kept)} unchanged since the last run`,
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
  return table([
    ['sources', [count(sources), ...asides].join(', ')],
    ...quarantine.map((reason, i) => [i === 0 ? 'quarantined' : '', describeReason(reason)]),
    ['pixels', describePixels(pixels)],
    ['shards', `${count(shards)} (${parts.filter(Boolean).join(', ') || 'nothing to compute'})`],
    ['read around tiles', `${haloPercent.toFixed(2)} % more pixels`],
    ['memory of a node', `${describeBytes(plan.nodeMemoryBytes)} for planes and results`],
    ['output', files.length > 0 ? `${files.join(', ')}, at most` : 'previews only'],
    ['disk while it runs', `${describeBytes(plan.scratchBytes)} more`],
    ['time', `${describeTime(estimate)}, after ${describeRoughly(estimate.startSeconds)} to start`],
    ['', estimate.basis],
    ...(slowdown >= toldSlowdown
      ? [['', `this machine is busy: other programs make the job take ${slowdown.toFixed(1)} times as long (included)`]]
      : []),
  ]);
}

/** A plan in one line; if nothing can be read, then the reasons, a line each. */
export function describePlanShortly(plan: JobPlan, quarantine: readonly QuarantineReason[] = []): string {
  const { sources, kept, quarantined, pixels, shards, output, estimate } = plan;
  const { mapsBytes, featuresBytes, histogramBytes } = output;
  const facts = [
    plural(sources, 'source'),
    kept > 0 && `${count(kept)} of them unchanged since the last run`,
    quarantined > 0 && `${count(quarantined)} cannot be read`,
    describePixels(pixels),
    plural(shards, 'shard'),
    `at most ${describeBytes(mapsBytes + featuresBytes + histogramBytes)} of results`,
    describeTime(estimate),
  ];
  const line = `Plan: ${facts.filter(Boolean).join(', ')}.`;
  return quarantined < sources ? line : [line, ...quarantine.map((reason) => `  ${describeReason(reason)}`)].join('\n');
}

/** A duration in two digits: `0.35 s`, `14 s`, `2.1 min`, `3.1 h`, `12 days`. */
export function describeRoughly(seconds: number): string {
  for (const [length, unit] of [
    [86_400, 'days'],
    [3600, 'h'],
    [60, 'min'],
  ] as const) {
    if (seconds >= 0.995 * length) return `${twoDigits(seconds / length)} ${unit}`;
  }
  return `${twoDigits(seconds)} s`;
}

const twoDigits = (value: number): string => (value < 99.5 ? value.toPrecision(2) : value.toFixed(0));

/** The estimated time and its range, in two digits: more would look too certain. */
const describeTime = ({ seconds, lowSeconds, highSeconds }: JobPlan['estimate']): string =>
  `about ${describeRoughly(seconds)} (${describeRoughly(lowSeconds)} to ${describeRoughly(highSeconds)})`;

const count = (n: number): string => n.toLocaleString('en');

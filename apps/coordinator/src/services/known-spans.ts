import type { ShardTimeline, StageSpan } from '@halogrid/proto';

/** Stages whose spans are kept; `shard` is the whole time. */
const spanned = new Set(['shard', 'read', 'decode', 'device', 'encode']);

/** The possible spans of stages that this version knows; the first span of each stage. */
export function knownSpans(timeline: ShardTimeline | undefined): StageSpan[] {
  const known = new Map<string, StageSpan>();
  for (const { stage, from, to } of timeline?.spans ?? []) {
    const canBe = Number.isFinite(from) && Number.isFinite(to) && from >= 0 && from <= to;
    if (canBe && spanned.has(stage) && !known.has(stage)) known.set(stage, { stage, from, to });
  }
  return [...known.values()];
}

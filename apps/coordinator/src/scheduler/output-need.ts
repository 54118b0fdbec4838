import { dirname } from 'node:path';
import { lackOf, type OutputLack } from '@halogrid/jobs/output-lack';
import { pathIn } from '@halogrid/proto';
import type { AttachedNode, ScheduledJob, SchedulerState, Sight } from './scheduler-state.ts';

/** Whether a need is to write results. */
export const isWriting = (need: string): boolean => need.startsWith('write ');

/** The output folder, below which nodes write results. */
export const outputOf = (need: string): string => dirname(pathIn(need.slice('write '.length)));

/** Whether the node has found no room for results. */
export const lacksRoom = ({ sights }: AttachedNode, need: string): boolean =>
  roomLack(sights.get(need), need) !== undefined;

function roomLack(sight: Sight | undefined, need: string): OutputLack | undefined {
  return isWriting(need) && sight?.kind === 'lacking' ? lackOf(sight.reason) : undefined;
}

/** Forgets what the coordinator itself found lacking, once every node has room again. */
export function forgetOutputLack(job: ScheduledJob, nodes: readonly AttachedNode[]): void {
  if (!job.outputLack) return;
  const isStill = nodes.some((node) => [...job.needs.keys()].some((need) => lacksRoom(node, need)));
  if (!isStill) job.outputLack = undefined;
}

/**
 * Why no node can write results, if the output is at fault: what the coordinator found itself, or that a node has no
 * room (its quota may be smaller than the coordinator's). Undefined if the nodes are at fault.
 */
export function outputLack({ nodes }: SchedulerState, job: ScheduledJob, need: string): OutputLack | undefined {
  if (!isWriting(need)) return undefined;
  if (job.outputLack) return job.outputLack;
  for (const { sights } of nodes.values()) {
    const lack = roomLack(sights.get(need), need);
    if (lack) return lack;
  }
  return undefined;
}

import { dirname } from 'node:path';
import { pathIn } from '@halogrid/proto';
import { lackOf, type OutputLack } from '../job/output-lack.ts';
import type { ScheduledJob, SchedulerState } from './scheduler-state.ts';

/** Whether it is the need to write results. */
export const isWriting = (need: string): boolean => need.startsWith('write ');

/** The output folder, below which nodes write results. */
export const outputOf = (need: string): string => dirname(pathIn(need.slice('write '.length)));

/** The coordinator has looked whether it can write the results of the jobs that have that need; `own` is why not. */
export function noteOutput({ jobs }: SchedulerState, need: string, own: OutputLack | undefined): void {
  if (!isWriting(need)) return;
  for (const job of jobs.values()) if (job.needs.has(need)) job.outputLack = own;
}

/**
 * Why results that no node can write cannot be written: what the coordinator found itself, or that a node has no room, of which it may
 * have less than the coordinator. Undefined where it is something that nodes lack.
 */
export function outputLack({ nodes }: SchedulerState, job: ScheduledJob, need: string): OutputLack | undefined {
  if (!isWriting(need)) return undefined;
  if (job.outputLack) return job.outputLack;
  for (const { sights } of nodes.values()) {
    const sight = sights.get(need);
    const lack = sight?.kind === 'lacking' ? lackOf(sight.reason) : undefined;
    if (lack) return lack;
  }
  return undefined;
}

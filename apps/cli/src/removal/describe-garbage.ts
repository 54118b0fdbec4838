import { describeBytes } from '@halogrid/service/describe-bytes';
import { table } from '@halogrid/service/text-table';
import { describeAgo } from '../progress/describe-ago.ts';
import { plural } from '../progress/quantities.ts';
import { type Garbage, indexSentence, type JudgedOutput, sizesByOwner } from './collect-garbage.ts';
import { nobodyLeads } from './judge-output.ts';
import type { StrayUploads } from './stray-uploads.ts';

const sum = (judged: readonly JudgedOutput[]): string =>
  describeBytes(judged.reduce((bytes, each) => bytes + each.bytes, 0));

/** What `gc` found and did, for people. `isAsked`: whether results of ended jobs were to be removed. */
export function describeGarbage(
  { judged, strays }: Garbage,
  nowMs: number,
  choice: { dryRun: boolean; isAsked: boolean },
): string {
  const uploads = strays.map((stray) => `${describeStray(stray, choice.dryRun)}\n`).join('');
  if (judged.length === 0) return `No outputs of halogrid.\n${uploads}`;
  const bySize = judged.toSorted((a, b) => b.bytes - a.bytes);
  const hasOwners = judged.some(({ output }) => output.owner !== undefined);
  const rows = bySize.map(({ output, bytes, fate, why }) => [
    output.jobId,
    ...(hasOwners ? [output.owner ?? ''] : []),
    output.state,
    describeAgo(output.changedMs, nowMs),
    describeBytes(bytes),
    [wordOf(fate, choice.dryRun), why].filter(Boolean).join(': '),
    output.path,
  ]);
  const head = ['JOB', ...(hasOwners ? ['OWNER'] : []), 'STATE', 'ENDED', 'SIZE', '', 'OUTPUT'];
  const owners = sizesByOwner(judged).map(({ owner, jobs, bytes }) => [
    owner || '(nobody)',
    plural(jobs, 'job'),
    describeBytes(bytes),
  ]);
  const parts = [
    table([head, ...rows]),
    ...(hasOwners ? [table(owners)] : []),
    `${summary(judged, choice)}\n${uploads}`,
  ];
  return parts.join('\n');
}

function describeStray({ path, fate, uploads: { length } }: StrayUploads, isDryRun: boolean): string {
  const what = plural(length, 'unfinished upload');
  if (path === undefined) return `${what} of no output of halogrid: other programs may go on with them.`;
  if (fate === 'keep') return `${what} of '${path}', which no job completes: --unfinished removes them.`;
  return `${what} of '${path}' ${isDryRun ? 'would be removed' : 'removed'}.`;
}

const wordOf = (fate: JudgedOutput['fate'], isDryRun: boolean): string =>
  fate === 'keep' ? 'stays' : isDryRun ? 'would go' : 'removed';

function summary(judged: readonly JudgedOutput[], { dryRun, isAsked }: { dryRun: boolean; isAsked: boolean }): string {
  const { remove = [], keep = [] } = Object.groupBy(judged, ({ fate }) => fate);
  const unled = keep.filter(({ why }) => why === nobodyLeads);
  const sentences = [
    `${plural(remove.length, 'job')} ${dryRun ? 'would be removed' : 'removed'} (${sum(remove)}), ${plural(keep.length, 'job')} left (${sum(keep)}).`,
    ...(isAsked ? [] : ['--older-than 30d removes results of jobs that ended before that.']),
    ...(unled.length > 0
      ? [`${plural(unled.length, 'unfinished job')} that nobody leads (${sum(unled)}): --unfinished removes them.`]
      : []),
  ];
  return sentences.join('\n');
}

/** What a person should know about removed outputs: what stays in their folders, and what refers to them. */
export function notesOnRemoved(judged: readonly Pick<JudgedOutput, 'output' | 'stays' | 'indexes'>[]): string[] {
  return judged.flatMap(({ output: { path, jobId }, stays, indexes }) => [
    ...(stays.length > 0 ? [staysSentence(path, stays)] : []),
    ...indexes.map((index) => indexSentence(index, jobId)),
  ]);
}

const mostNamed = 3;

export function staysSentence(path: string, stays: readonly string[]): string {
  const named = stays.slice(0, mostNamed).join(', ');
  const more = stays.length > mostNamed ? ` and ${stays.length - mostNamed} more` : '';
  return `'${path}' stays, because halogrid did not write what else is in it: ${named}${more}.`;
}

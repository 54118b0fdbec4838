import { relative } from 'node:path';
import { describePixels, describeSeconds, plural } from '../progress/quantities.ts';
import type { JobSummary } from './job-summary.ts';
import { table } from './table.ts';

/** What a person reads when a job has ended. Paths are shown as seen from `folder`. */
export function describeSummary(summary: JobSummary, folder: string): string {
  const { state, counts, wallSeconds, nodes, digest, error } = summary;
  const out = shortest(summary.out, folder);
  if (state !== 'complete') return `Job ${summary.id} ${state}${error ? `: ${error}` : ''}.\n`;
  const speed = wallSeconds > 0 ? ` at ${describePixels(counts.pixels / wallSeconds)}/s` : '';
  const rows = [
    ['sources', `${counts.sources} found, ${counts.frames} merged`],
    ...(counts.quarantined ? [['quarantined', `${counts.quarantined}: ${out}/errors.jsonl says why`]] : []),
    ['pixels', `${describePixels(counts.pixels)}${speed}`],
    ['shards', `${counts.shards} in ${plural(counts.attempts, 'attempt')}`],
    ...(nodes ?? []).map((node, i) => [
      i === 0 ? 'nodes' : '',
      `${node.name}: ${node.device}, ${plural(node.shards, 'shard')}`,
    ]),
    ['digest', digest ?? ''],
    ['results', `${out}/${summary.pictures.length ? ` (open ${summary.pictures.join(' and ')})` : ''}`],
  ];
  return `Job ${summary.id} is complete after ${describeSeconds(wallSeconds)}.\n${table(rows, '  ')}`;
}

/** The path relative to `folder` where that is inside it, as it is elsewhere. */
function shortest(path: string, folder: string): string {
  const inside = relative(folder, path);
  return inside && !inside.startsWith('..') ? inside : path;
}

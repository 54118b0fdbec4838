import type { Content, ReportRow, ReportTable } from './report.ts';

/** What images show, and what probes and queries about CUDA have of it. */
const contents: { content: string; of: { content?: Content } }[] = [
  { content: 'random bytes', of: {} },
  { content: 'photograph', of: { content: 'photograph' } },
];

/** Rows of random bytes, and the same of a photograph. */
export function contentsTable(about: Pick<ReportTable, 'title' | 'note'>, rows: readonly ReportRow[]): ReportTable {
  return {
    name: 'contents',
    ...about,
    rows: contents.flatMap(({ content, of }) =>
      rows.map(({ labels, times, cuda }) => ({
        labels: { content, ...labels },
        times: Object.fromEntries(Object.entries(times).map(([name, probe]) => [name, { ...probe, ...of }])),
        ...(cuda && { cuda: { ...cuda, ...of } }),
      })),
    ),
    derived: [],
    charts: [],
  };
}

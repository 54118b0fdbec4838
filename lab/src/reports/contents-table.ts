import type { Content, ReportRow, ReportTable } from './report.ts';

/** Contents of images, and the fields of probes and of CUDA queries that mean them. */
const contents: { content: string; of: { content?: Content } }[] = [
  { content: 'random bytes', of: {} },
  { content: 'photograph', of: { content: 'photograph' } },
];

/** The rows for images of random bytes, and again for a photograph. */
export function contentsTable(about: Pick<ReportTable, 'title' | 'note'>, rows: readonly ReportRow[]): ReportTable {
  return {
    name: 'contents',
    ...about,
    rows: contents.flatMap(({ content, of }) =>
      rows.map(({ labels, times, cuda }) => ({
        labels: { content, ...labels },
        times: Object.fromEntries(Object.entries(times).map(([name, probe]) => [name, { ...probe, ...of }])),
        cuda: cuda && { ...cuda, ...of },
      })),
    ),
    derived: [],
    charts: [],
  };
}

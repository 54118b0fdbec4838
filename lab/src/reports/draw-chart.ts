import { type BarChart, barChartSvg } from '../charts/bar-chart.ts';
import { heatMapSvg } from '../charts/heat-map.ts';
import { type ChartLine, lineChartSvg } from '../charts/line-chart.ts';
import { type EvaluatedTable, reportedPrefix } from './evaluate-table.ts';
import type { BarChartPlan, ChartPlan, HeatMapPlan, LineChartPlan } from './report.ts';

/** The SVG of a chart of a table; undefined if none of its values was measured. */
export function drawChart(plan: ChartPlan, table: EvaluatedTable, device: string): string | undefined {
  if (!hasMeasured(plan, table)) return undefined;
  switch (plan.kind) {
    case 'lines':
      return drawLines(plan, table, device);
    case 'bars':
      return drawBars(plan, table, device);
    case 'heat':
      return drawHeatMap(plan, table, device);
  }
}

type Row = EvaluatedTable['rows'][number];

/** Whether the chart shows more than the report's own figures. */
function hasMeasured(plan: ChartPlan, table: EvaluatedTable): boolean {
  const columns = plan.values.map((value) => (typeof value === 'string' ? value : value.column));
  const measured = columns.filter((column) => !column.startsWith(reportedPrefix));
  const rows = rowsWith(table, plan.kind === 'bars' ? undefined : plan.only);
  return rows.some(({ values }) => measured.some((column) => typeof values[column] === 'number'));
}

function drawLines(plan: LineChartPlan, table: EvaluatedTable, subtitle: string): string | undefined {
  const rows = rowsWith(table, plan.only);
  if (plan.xScale === 'category') rows.sort((a, b) => lanesOf(a.labels[plan.x]) - lanesOf(b.labels[plan.x]));
  // Labels that are the same in all rows are left out of names.
  const differs = (label: string) => new Set(rows.map(({ labels }) => labels[label])).size > 1;
  const colours: string[] = [];
  const lines = new Map<string, ChartLine>();
  const seen = new Set<string>();
  for (const row of rows) {
    for (const { column, name, isSameInSeries } of plan.values) {
      const y = row.values[column];
      const x = row.labels[plan.x];
      const labels = isSameInSeries ? [] : plan.series.filter(differs);
      const group = joined(row, labels);
      const key = `${group}\n${column}`;
      // If no label tells rows apart, the first one counts, measured or not.
      const isFirst = !seen.has(`${key}\n${x}`);
      seen.add(`${key}\n${x}`);
      if (!isFirst || typeof y !== 'number' || y <= 0 || x === undefined) continue;
      // If no label tells lines apart, columns do.
      const colour = joined(row, labels.slice(0, 1)) || column;
      if (!colours.includes(colour)) colours.push(colour);
      const line = lines.get(key) ?? {
        name: [group, name].filter(Boolean).join(', ') || 'halogrid',
        group: colours.indexOf(colour),
        dash: [...lines.values()].filter((other) => other.group === colours.indexOf(colour)).length,
        points: [],
      };
      lines.set(key, line);
      line.points.push({ x, y });
    }
  }
  if (lines.size === 0) return undefined;
  const sorted = [...lines.values()].sort((a, b) => a.group - b.group || a.dash - b.dash);
  const drawn = new Set(sorted.flatMap(({ points }) => points.map(({ x }) => x)));
  const inOrder = rows.map(({ labels }) => labels[plan.x]!).filter((x) => drawn.has(x));
  const categories = plan.xScale === 'category' ? [...new Set(inOrder)] : undefined;
  return lineChartSvg({ ...plan, subtitle, lines: sorted, categories });
}

/** A number that orders shapes of blocks: by lanes, and of equally many the wider first. */
function lanesOf(block: string | number | undefined): number {
  const [width = 0, height = 0] = String(block).split('x').map(Number);
  return width * height - width / 1024;
}

function drawBars(plan: BarChartPlan, { rows }: EvaluatedTable, subtitle: string): string | undefined {
  const groups: BarChart['groups'] = [];
  for (const [name, ofGroup] of Map.groupBy(rows, ({ labels }) => String(labels[plan.group]))) {
    const bars = plan.values.flatMap(({ column, name: bar }) => {
      const values = ofGroup.map((row) => row.values[column]).filter((value) => typeof value === 'number' && value > 0);
      const value = Math[plan.best === 'least' ? 'min' : 'max'](...(values as number[]));
      return Number.isFinite(value) ? [{ name: bar, value }] : [];
    });
    if (bars.length > 0) groups.push({ name, bars });
  }
  return groups.length > 0 ? barChartSvg({ ...plan, subtitle, groups }) : undefined;
}

/** The rows with these labels. */
export function rowsWith({ rows }: EvaluatedTable, only: Record<string, string | number> = {}): Row[] {
  return rows.filter(({ labels }) => Object.entries(only).every(([label, wanted]) => labels[label] === wanted));
}

function drawHeatMap(plan: HeatMapPlan, table: EvaluatedTable, subtitle: string): string | undefined {
  const rows = rowsWith(table, plan.only);
  const columns = [...new Set(rows.map(({ labels }) => String(labels[plan.x])))];
  const names = [...new Set(rows.map((row) => joined(row, plan.y)))];
  const values = names.map((name) =>
    columns.map((column) => {
      const row = rows.find((one) => joined(one, plan.y) === name && String(one.labels[plan.x]) === column);
      return plan.values.map((value) => row?.values[value]).find((value) => typeof value === 'number');
    }),
  );
  if (values.flat().every((value) => value === undefined)) return undefined;
  return heatMapSvg({ ...plan, subtitle, columns, rows: names, values });
}

const joined = ({ labels }: Row, names: readonly string[]): string =>
  names
    .map((name) => labels[name])
    .filter((value) => value !== undefined && value !== '-')
    .join(', ');

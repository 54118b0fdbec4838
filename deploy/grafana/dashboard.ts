/** A small typed description of a Grafana dashboard and the one function that turns it into Grafana's JSON. */
export interface Dashboard {
  uid: string;
  title: string;
  description: string;
  variables: QueryVariable[];
  rows: Row[];
}

/** A list the viewer picks from; queries use it as `label=~"$name"`. */
export interface QueryVariable {
  name: string;
  label: string;
  /** PromQL for Grafana's variable editor, e.g. `label_values(metric, label)`. */
  query: string;
}

export interface Row {
  title: string;
  panels: Panel[];
}

export interface Panel {
  kind: 'stat' | 'timeseries' | 'stacked' | 'heatmap';
  title: string;
  description: string;
  /** Grafana's id of a unit; after `si:` a space, because it takes the p of px and the f of frames for pico and femto. */
  unit: 'si: px/s' | 'si: frames/s' | 'cps' | 'Bps' | 'bytes' | 's' | 'percentunit' | 'short';
  /** Columns, of 24. */
  width: number;
  queries: Query[];
  /** What a stat says where there is no series. */
  noValue?: string;
}

export interface Query {
  expr: string;
  /** Name of a series; `{{label}}` stands for a label's value. */
  legend: string;
}

const columns = 24;
const heights = { stat: 4, timeseries: 8, stacked: 8, heatmap: 8 } as const;
const datasource = { type: 'prometheus', uid: '$' + '{datasource}' };

/** The dashboard as Grafana imports it. Rows are filled from left to right, then downwards. */
export function toGrafana(dashboard: Dashboard): object {
  const panels: object[] = [];
  let y = 0;
  for (const row of dashboard.rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: columns, h: 1 },
    });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of row.panels) {
      if (x + panel.width > columns) {
        y += height;
        x = 0;
        height = 0;
      }
      const gridPos = { x, y, w: panel.width, h: heights[panel.kind] };
      panels.push(toPanel(panel, panels.length + 1, gridPos));
      x += panel.width;
      height = Math.max(height, gridPos.h);
    }
    y += height;
  }
  return {
    uid: dashboard.uid,
    title: dashboard.title,
    description: dashboard.description,
    tags: ['halogrid'],
    schemaVersion: 41,
    editable: false,
    graphTooltip: 1,
    refresh: '10s',
    time: { from: 'now-30m', to: 'now' },
    timezone: 'browser',
    templating: { list: [datasourceVariable, ...dashboard.variables.map(toVariable)] },
    annotations: { list: [] },
    panels,
  };
}

const datasourceVariable = {
  type: 'datasource',
  name: 'datasource',
  label: 'Data source',
  query: 'prometheus',
  hide: 0,
};

function toVariable(variable: QueryVariable): object {
  return {
    type: 'query',
    name: variable.name,
    label: variable.label,
    datasource,
    query: { query: variable.query, refId: variable.name },
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  };
}

function toPanel(panel: Panel, id: number, gridPos: object): object {
  const { title, description, queries } = panel;
  const targets = queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode(65 + index),
    datasource,
    expr,
    legendFormat: legend,
    ...(panel.kind === 'heatmap' ? { format: 'heatmap' } : {}),
  }));
  return { id, title, description, gridPos, datasource, targets, ...looks(panel) };
}

function looks({ kind, unit, noValue }: Panel): object {
  switch (kind) {
    case 'stat':
      return {
        type: 'stat',
        fieldConfig: { defaults: { unit, ...(noValue && { noValue }) }, overrides: [] },
        options: { colorMode: 'none', graphMode: 'area', reduceOptions: { calcs: ['lastNotNull'] } },
      };
    case 'timeseries':
    case 'stacked': {
      const custom =
        kind === 'stacked'
          ? { fillOpacity: 40, stacking: { mode: 'normal' }, showPoints: 'never' }
          : { fillOpacity: 5, showPoints: 'never' };
      return {
        type: 'timeseries',
        fieldConfig: { defaults: { unit, min: 0, custom }, overrides: [] },
        options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
      };
    }
    case 'heatmap':
      return {
        type: 'heatmap',
        fieldConfig: { defaults: { unit }, overrides: [] },
        options: { calculate: false, yAxis: { unit }, color: { mode: 'scheme', scheme: 'Oranges', steps: 64 } },
      };
  }
}

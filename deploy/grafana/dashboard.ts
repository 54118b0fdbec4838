/** A small typed description of a Grafana dashboard and the one function that turns it into Grafana's JSON. */
export interface Dashboard {
  uid: string;
  title: string;
  description: string;
  variables: QueryVariable[];
  /** Values that the viewer types, besides the address of the console, which every board has. */
  texts?: TextVariable[];
  /** Links to other pages, besides the links to the other boards and the console, which every board has. */
  links?: Link[];
  rows: Row[];
}

/** A list the viewer picks from; queries use it as `label=~"$name"`. */
export interface QueryVariable {
  name: string;
  label: string;
  /** PromQL for Grafana's variable editor, e.g. `label_values(metric, label)`. */
  query: string;
}

export interface TextVariable {
  name: string;
  label: string;
  value: string;
}

export interface Link {
  title: string;
  /** May contain variables as `$name`. */
  url: string;
}

export interface Row {
  title: string;
  panels: Panel[];
}

export interface Panel {
  kind: 'stat' | 'timeseries' | 'stacked' | 'heatmap' | 'table';
  title: string;
  description: string;
  /**
   * Grafana's id of a unit; after `si:` a space, because it takes the p of px and the f of frames for pico and femto.
   */
  unit: 'si: px/s' | 'si: frames/s' | 'cps' | 'Bps' | 'bytes' | 's' | 'percentunit' | 'watt' | 'joule' | 'short';
  /** Columns, of 24. */
  width: number;
  queries: Query[];
  /** The text of a stat without a series. */
  noValue?: string;
  /** For a table: the label whose values are the rows. Each query is a column. */
  rowLabel?: string;
  /** The link on the name of a table's row. */
  link?: Link;
  /** The panel stays empty without dcgm-exporter ('dcgm'), or if no node has an NVIDIA card ('card'). */
  needs?: 'dcgm' | 'card';
}

export interface Query {
  expr: string;
  /** Name of a series; `{{label}}` stands for a label's value. */
  legend: string;
  /** The unit of a column, if it differs from the table's, and the value from which it is coloured. */
  unit?: Panel['unit'];
  warnFrom?: number;
}

/** Whether a query reads buckets with exemplars, which link to jobs; Grafana then asks for exemplars too. */
export const hasExemplars = (expr: string): boolean =>
  /halogrid_(shard|shard_queue|merge|stage)_duration_seconds_bucket/.test(expr);

const columns = 24;
const heights = { stat: 4, timeseries: 8, stacked: 8, heatmap: 8, table: 10 } as const;
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
    templating: {
      list: [
        datasourceVariable,
        ...dashboard.variables.map(toVariable),
        ...[...(dashboard.texts ?? []), consoleVariable].map(toTextBox),
      ],
    },
    annotations: { list: [jobsEnded] },
    links: [
      {
        type: 'dashboards',
        title: 'Other boards',
        tags: ['halogrid'],
        asDropdown: true,
        includeVars: true,
        keepTime: true,
      },
      ...[...(dashboard.links ?? []), { title: 'Console', url: '$console' }].map(toLink),
    ],
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

/** The address of the coordinator for the viewer's browser. */
const consoleVariable: TextVariable = { name: 'console', label: 'Console', value: 'http://localhost:9464' };

/** Marks when jobs ended, by final state. */
const jobsEnded = {
  name: 'Jobs that ended',
  enable: true,
  iconColor: 'blue',
  datasource,
  expr: 'sum by (cluster, state) (increase(halogrid_jobs_ended_total{cluster=~"$cluster"}[$__rate_interval])) > 0',
  titleFormat: 'A job of {{cluster}}: {{state}}',
};

const toLink = ({ title, url }: Link): object => ({ type: 'link', title, url, targetBlank: true });

const toTextBox = ({ name, label, value }: TextVariable): object => {
  return { type: 'textbox', name, label, query: value, current: { text: value, value } };
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
    ...(hasExemplars(expr) ? { exemplar: true } : {}),
    ...(panel.kind === 'heatmap' ? { format: 'heatmap' } : {}),
    ...(panel.kind === 'table' ? { format: 'table', instant: true } : {}),
  }));
  return { id, title, description, gridPos, datasource, targets, ...looks(panel) };
}

function looks(panel: Panel): object {
  const { kind, unit, noValue } = panel;
  switch (kind) {
    case 'table':
      return tableLooks(panel);
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

/** Options that join a table's columns by the label of the rows, and give each its name, unit and colour. */
function tableLooks({ unit, queries, rowLabel = 'instance', link }: Panel): object {
  const columns = queries.map((query, index) => ({ ...query, field: `Value #${String.fromCharCode(65 + index)}` }));
  const others = ['Time', 'cluster'].flatMap((name) => columns.map((_, i) => `${name} ${i + 1}`)).concat('Time');
  const overrides = columns.map(({ legend, unit: its = unit, warnFrom }) => ({
    matcher: { id: 'byName', options: legend },
    properties: [
      { id: 'unit', value: its },
      ...(warnFrom === undefined
        ? []
        : [
            {
              id: 'thresholds',
              value: {
                mode: 'absolute',
                steps: [
                  { color: 'green', value: null },
                  { color: 'orange', value: warnFrom },
                ],
              },
            },
            { id: 'custom.cellOptions', value: { type: 'color-background' } },
          ]),
    ],
  }));
  const named = {
    matcher: { id: 'byName', options: rowLabel },
    properties: link ? [{ id: 'links', value: [toLink(link)] }] : [],
  };
  return {
    type: 'table',
    fieldConfig: { defaults: { unit }, overrides: [named, ...overrides] },
    options: { showHeader: true, cellHeight: 'sm' },
    transformations: [
      { id: 'joinByField', options: { byField: rowLabel, mode: 'outer' } },
      {
        id: 'organize',
        options: {
          excludeByName: Object.fromEntries(others.map((name) => [name, true])),
          renameByName: Object.fromEntries(columns.map(({ field, legend }) => [field, legend])),
        },
      },
    ],
  };
}

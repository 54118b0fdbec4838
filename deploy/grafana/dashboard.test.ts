import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { selectors } from '../prometheus/selectors.ts';
import { boards } from './boards/index.ts';
import { toGrafana } from './dashboard.ts';

interface Grid {
  x: number;
  y: number;
  w: number;
  h: number;
}

interface GrafanaPanel {
  type: string;
  title: string;
  description: string;
  gridPos: Grid;
  datasource: { uid: string };
  fieldConfig: { defaults: { unit: string; custom?: { stacking?: object } } };
  targets: { expr: string; legendFormat: string; datasource: { uid: string } }[];
}

const committed = boards.map(({ uid }) => {
  return JSON.parse(readFileSync(new URL(`dashboards/${uid}.json`, import.meta.url), 'utf8'));
});
const panels: GrafanaPanel[] = committed.flatMap((board) =>
  board.panels.filter((panel: GrafanaPanel) => panel.type !== 'row'),
);
const queries = panels.flatMap(({ title, targets }) => targets.map((target) => ({ title, ...target })));
/** Variables of all boards. */
const variables: { name: string; board: string }[] = committed.flatMap((board) =>
  board.templating.list.map(({ name }: { name: string }) => ({ name, board: board.uid })),
);
/** Series of another exporter, without our labels. */
const isForeign = (series: string): boolean => series.startsWith('DCGM_');

test('the committed boards are exactly the ones that the program generates', () => {
  assert.deepEqual(committed, boards.map(toGrafana), 'out of date: npm run generate -w @halogrid/deploy');
  const files = readdirSync(new URL('dashboards', import.meta.url));
  assert.deepEqual(files.toSorted(), boards.map(({ uid }) => `${uid}.json`).toSorted());
});

test('every panel has a unique title, a description, a unit and a query', () => {
  assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length);
  for (const panel of panels) {
    assert.match(panel.title, /^[A-Z]/);
    assert.match(panel.description, /^[A-Z0-9].*\.$/, panel.title);
    assert.ok(panel.fieldConfig.defaults.unit, panel.title);
    assert.ok(panel.targets.length > 0, panel.title);
    for (const { legendFormat } of panel.targets) assert.ok(legendFormat, panel.title);
  }
});

test('every panel and query takes its data source from the variable', () => {
  for (const { uid } of committed)
    assert.ok(variables.some(({ name, board }) => name === 'datasource' && board === uid));
  for (const { datasource, title } of [...panels, ...queries])
    assert.equal(datasource.uid, '$' + '{datasource}', title);
});

test('queries use declared variables only', () => {
  for (const board of committed) {
    const own = variables.filter((variable) => variable.board === board.uid).map(({ name }) => name);
    const declared = new Set(['__rate_interval', '1', ...own]);
    const words = [...board.panels, ...board.links, ...board.annotations.list].map((part) => JSON.stringify(part));
    for (const [, name] of words.join().matchAll(/\$(\w+)/g))
      assert.ok(declared.has(name!), `$${name} of ${board.uid}`);
  }
});

test('every query selects the chosen clusters, and adds up several only where needed', () => {
  for (const { expr } of queries) {
    for (const series of selectors(expr).filter((one) => !isForeign(one)))
      assert.match(series, /\{cluster=~"\$cluster"[,}]/, expr);
  }
  for (const { title, type, targets, fieldConfig } of panels) {
    const adds = targets.some(({ expr }) => /\b(sum|max|min)\b(?! by \((cluster|gpu_uuid)\b)/.test(expr));
    // Stacked shares and heatmaps are over all chosen clusters together.
    const isWhole = type === 'heatmap' || fieldConfig.defaults.custom?.stacking !== undefined;
    assert.equal(adds, isWhole, title);
  }
});

test('counters are always under rate(), over the interval that Grafana derives', () => {
  for (const { expr } of queries) {
    for (const [range] of expr.matchAll(/\[[^\]]*\]/g)) assert.equal(range, '[$__rate_interval]', expr);
    for (const series of selectors(expr)) {
      if (!/_(total|bucket|sum|count)(\{|$)/.test(series)) continue;
      const uses = expr.split(series).length - 1;
      const rated = ['rate', 'increase'].map((name) => expr.split(`${name}(${series}[`).length - 1);
      assert.equal(rated[0]! + rated[1]!, uses, `${series} in ${expr}`);
    }
  }
});

for (const { uid, panels } of committed)
  test(`panels of ${uid} lie side by side inside 24 columns`, () => {
    const cells = new Set<string>();
    for (const { gridPos, title } of panels as GrafanaPanel[]) {
      assert.ok(gridPos.x + gridPos.w <= 24, title);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.ok(!cells.has(`${x},${y}`), `${title} covers another panel`);
          cells.add(`${x},${y}`);
        }
      }
    }
  });

test('boards cannot be edited in Grafana, because they are code', () => {
  for (const { editable } of committed) assert.equal(editable, false);
});

test('columns of a table have unique names', () => {
  const [table] = panels.filter(({ type }) => type === 'table');
  const names = table!.targets.map(({ legendFormat }) => legendFormat);
  assert.equal(new Set(names).size, names.length);
});

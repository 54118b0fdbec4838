import { contentsTable } from './contents-table.ts';
import { cpus, cuda, inGrid, ldpWork, speedUps } from './r4-work.ts';
import type { ReportCall, ReportTable } from './report.ts';

const waysOfOrders = ['shared', 'global'];
const waysOfContents = ['shared', 'global', 'l1-25'];

/** Histograms by order; the report measures the third order only. */
export function byOrder(orders: readonly number[], side: number): ReportTable {
  return {
    name: 'orders',
    title: `Order by order · histograms of LDP of ${side}x${side}`,
    rows: orders.map((order) => ({
      labels: { order },
      times: { kernel: ldpWork('kernel', side, order), ...cpus(side, order) },
      cuda: cuda(waysOfOrders, side, order),
    })),
    derived: speedUps,
    charts: [],
  };
}

export const orderCalls = (orders: readonly number[], side: number): ReportCall[] =>
  orders
    .filter((order) => order !== 3)
    .map((order) => ({
      table: 'orders',
      program: 'ldp',
      arguments: { sizes: side, order, measure: 'kernel', strategies: waysOfOrders.join(), histograms: 'total' },
    }));

/** Random bytes and a photograph. */
export const byContent = (side: number): ReportTable =>
  contentsTable({ title: `Histograms of LDP of ${side}x${side} by what the image shows` }, [
    { labels: { what: 'halogrid' }, times: { kernel: ldpWork('kernel', side) } },
    { labels: { what: 'halogrid', histograms: 'blocks' }, times: { kernel: ldpWork('kernel', side, 3, inGrid(side)) } },
    ...waysOfContents.flatMap((name) =>
      (['total', 'blocks'] as const).map((histograms) => ({
        labels: { what: `CUDA ${name}`, histograms },
        times: {},
        cuda: cuda(name, side, 3, histograms),
      })),
    ),
  ]);

export const contentCall = (side: number): ReportCall => ({
  table: 'contents',
  program: 'ldp',
  arguments: { sizes: side, order: 3, measure: 'kernel', strategies: waysOfContents.join() },
  content: 'photograph',
});

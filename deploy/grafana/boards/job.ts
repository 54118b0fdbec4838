import type { Dashboard } from '../dashboard.ts';
import { clusterVariable, each, panel, rate, series } from './queries.ts';

/**
 * A cluster while one job ran: no series names a job, so its time is what is chosen, and marks say when jobs began and
 * ended. The job itself is on the console.
 */
export const jobBoard: Dashboard = {
  uid: 'halogrid-job',
  title: 'halogrid: one job',
  description: 'What a cluster did while a job ran. Enter its id for the link to its page, and choose its time.',
  variables: [clusterVariable],
  texts: [{ name: 'job', label: 'Job', value: '' }],
  links: [{ title: 'The job on the console', url: '$console/jobs/$job' }],
  rows: [
    {
      title: 'While it ran',
      panels: [
        panel('Pixels merged', 'si: px/s', 'Committed source pixels of the cluster, of all of its jobs.', [
          { expr: each('sum', rate('halogrid_input_pixels_total')), legend: '{{cluster}}' },
        ]),
        panel('Shards open', 'short', 'Shards of unfinished jobs by state.', [
          { expr: each('sum', series('halogrid_shards', 'state!="done"'), 'state'), legend: '{{cluster}} {{state}}' },
        ]),
        panel(
          'Nodes bound by',
          'percentunit',
          'Share of the time of nodes, by the stage that all behind it waited for.',
          [
            {
              expr: `${each('sum', rate('halogrid_node_binding_seconds_total'), 'stage')} / on (cluster) group_left () ${each('sum', rate('halogrid_node_binding_seconds_total'))}`,
              legend: '{{cluster}} {{stage}}',
            },
          ],
        ),
        panel('Leases that were no use', 'cps', 'Leases that ended without a result that counts, by why.', [
          {
            expr: each('sum', rate('halogrid_shards_finished_total', 'outcome!="ok"'), 'outcome'),
            legend: '{{cluster}} {{outcome}}',
          },
        ]),
      ],
    },
  ],
};

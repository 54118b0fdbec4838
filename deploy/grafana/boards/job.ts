import type { Dashboard } from '../dashboard.ts';
import { clusterVariable, each, panel, rate, series } from './queries.ts';

/**
 * A cluster while one job ran. No series names a job, so the viewer chooses the job's time; marks show when jobs began
 * and ended. The console shows the job itself.
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
        panel('Nodes bound by', 'percentunit', 'Share of the time of nodes, by the stage that was the bottleneck.', [
          {
            expr: `${each('sum', rate('halogrid_node_binding_seconds_total'), 'stage')} / on (cluster) group_left () ${each('sum', rate('halogrid_node_binding_seconds_total'))}`,
            legend: '{{cluster}} {{stage}}',
          },
        ]),
        panel('Leases that were no use', 'cps', 'Leases that ended without a result that counts, by reason.', [
          {
            expr: each('sum', rate('halogrid_shards_finished_total', 'outcome!="ok"'), 'outcome'),
            legend: '{{cluster}} {{outcome}}',
          },
        ]),
      ],
    },
  ],
};

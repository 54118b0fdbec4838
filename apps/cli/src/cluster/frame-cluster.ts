import type { StartFrameCluster } from '@halogrid/bench/frame-cluster';
import { parseJob } from '../options/job-options.ts';
import { followJob, quietView } from '../progress/follow-job.ts';
import { startLocalCluster } from './local-cluster.ts';
import { coordinatorProcess } from './own-coordinator.ts';

/** A cluster on this machine for benchmarks, which give it folders of frames and measure the time. */
export const startFrameCluster: StartFrameCluster = async (options) => {
  const { connect, ready, broken, stop } = await startLocalCluster({
    startCoordinator: coordinatorProcess,
    ...options,
  });
  const client = connect();
  return {
    ready,
    broken,
    nodes: () => client.nodes(),
    async process(source, out, job) {
      const request = parseJob([source], { map: 'none', grid: '1x1', out, ...job }, process.cwd());
      return followJob(await client.submit(request), quietView);
    },
    async stop() {
      client.close();
      await stop();
    },
  };
};

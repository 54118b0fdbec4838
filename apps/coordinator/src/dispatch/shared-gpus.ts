import type { Hello } from '@halogrid/proto';
import type { Log } from '@halogrid/service';

/** Names of nodes that say they have the same GPU open, by the GPU's UUID; GPUs of a single node are left out. */
export function sharedGpus(hellos: readonly Hello[]): Map<string, string[]> {
  const shared = new Map<string, string[]>();
  for (const [uuid, nodes] of Map.groupBy(hellos, ({ device }) => device?.gpu?.uuid ?? '')) {
    if (uuid !== '' && nodes.length > 1)
      shared.set(
        uuid,
        nodes.map(({ name }) => name),
      );
  }
  return shared;
}

/** Warns if a newly attached node has a GPU open that another attached node has open too. */
export function warnOfSharedGpu(joined: Hello, attached: readonly Hello[], log: Log): void {
  const uuid = joined.device?.gpu?.uuid ?? '';
  const nodes = sharedGpus(attached).get(uuid);
  if (nodes) log.warn({ gpuUuid: uuid, nodes }, `Nodes share one GPU, ${uuid}: ${nodes.join(', ')}`);
}

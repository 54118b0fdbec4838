// Runs a node whose device gives wrong but plausible results: lying-node.ts HOST:PORT NAME.
import { createNodeConfig, type NodeDevice, openDevice, startNode } from '@halogrid/gpu-node';
import { shutdownSignal } from '@halogrid/service';
import { createLog } from '@halogrid/service/log';

const [coordinator, name] = process.argv.slice(2) as [string, string];
const config = createNodeConfig({ coordinator, name, device: 'cpu', http: '127.0.0.1:0' });

function lying(device: NodeDevice): NodeDevice {
  return {
    info: device.info,
    maxStagingBytes: device.maxStagingBytes,
    batchBytes: device.batchBytes,
    batchesInFlight: device.batchesInFlight,
    lost: device.lost,
    acquire: (bytes) => device.acquire(bytes),
    close: () => device.close(),
    run: async (...batch) => {
      const { items, seconds } = await device.run(...batch);
      return { items: items.map((item) => ({ ...item, bins: item.bins.toReversed() })), seconds };
    },
  };
}

const exit = await startNode(config, createLog('node', 'warn'), shutdownSignal(), undefined, async (...choice) => {
  const { device, reason } = await openDevice(...choice);
  return { device: lying(device), reason };
});
console.log(exit.reason);
process.exit(exit.code);

// Runs as a separate program in a network namespace with packet loss: does the work twice and prints how many attempts
// it took.
import { readFileSync } from 'node:fs';
import { FaultCluster } from './fault-cluster.ts';

/** How many segments TCP has sent again in this namespace. */
function resentSegments(): number {
  const [names, values] = readFileSync('/proc/net/snmp', 'utf8').match(/^Tcp: .*$/gm)!;
  return Number(values!.split(' ')[names!.split(' ').indexOf('RetransSegs')]);
}

const faults = await FaultCluster.start(['a', 'b']);
try {
  const { attempts, expired } = await faults.completesUndisturbed(await faults.submit());
  console.log(JSON.stringify({ attempts, expired, shards: faults.work.shards, resent: resentSegments() }));
} finally {
  await faults.stop();
}

// node with-shared-clusters.ts PROGRAM ARGUMENT...: starts the clusters that test files share (see sharedCluster), runs
// a program, and ends with its exit code.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lastLines, programLimitMs } from '@halogrid/testing';
import { Cluster } from './cluster.ts';
import { type SharedCluster, type SharedDevice, settingOf, sharedNodes } from './shared-cluster.ts';

/** Longer than any run of all tests. */
const maxLifeMs = 12 * programLimitMs;

const [program = '', ...words] = process.argv.slice(2);
const devices = Object.entries(sharedNodes) as [SharedDevice, number][];
const clusters = await Promise.all(devices.map(startShared));
const tests = spawn(program, words, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => tests.kill(signal));
const [code] = await once(tests, 'exit');
if (code !== 0) console.error(lastLines());
await Promise.all(clusters.map((cluster) => cluster.stop()));
process.exit(code ?? 1);

async function startShared([device, nodes]: [SharedDevice, number]): Promise<Cluster> {
  const cluster = await Cluster.start({ nodes, device, maxLifeMs });
  const { address, http } = cluster;
  process.env[settingOf(device)] = JSON.stringify({ address, http } satisfies SharedCluster);
  return cluster;
}

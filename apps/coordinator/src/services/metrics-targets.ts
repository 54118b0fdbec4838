import { isLoopback, type ListenAddress } from '@halogrid/service';
import type { WorkView } from '../dispatch/work-view.ts';

/** A group of targets of one node, as Prometheus' http_sd reads it. */
export interface MetricsTarget {
  targets: [string];
  labels: Record<string, string>;
}

/**
 * Every attached node that serves metrics to others, as Prometheus finds it. `asked` is the HOST:PORT at which it found
 * the coordinator: nodes on the same machine have that host.
 */
export const metricsTargets = (view: Pick<WorkView, 'nodes'>, asked: string): MetricsTarget[] =>
  view.nodes().flatMap(({ hello: { name, device, metricsUrl } }) => {
    const served = parseOrigin(metricsUrl);
    const here = parseOrigin(`http://${/:\d+$/.test(asked) ? asked : `${asked}:80`}`);
    if (!served || !here) return [];
    if (isLoopback(served) && !isLoopback(here)) return [];
    const { scheme, port } = served;
    const host = everywhere.has(served.host) ? here.host : served.host;
    const labels = { __scheme__: scheme, __meta_halogrid_node: name, __meta_halogrid_device: device?.kind ?? '' };
    return [{ targets: [`${host}:${port}`], labels }];
  });

/**
 * Where others reach the metrics that a node says it serves; empty if nobody does. A node that listens on all addresses
 * is reached at the one from which it called; `peer` is that ADDRESS:PORT. One on the coordinator's machine stays as it
 * is. One that listens on loopback is reached only from its own machine.
 */
export function reachableUrl(url: string, peer: string): string {
  const served = parseOrigin(url);
  if (!served) return '';
  const caller = hostOfPeer(peer);
  if (isLoopback({ ...served, host: caller })) return url;
  if (isLoopback(served)) return '';
  const host = everywhere.has(served.host) ? caller : served.host;
  return `${served.scheme}://${host}:${served.port}`;
}

const everywhere = new Set(['0.0.0.0', '[::]']);

function parseOrigin(url: string): (ListenAddress & { scheme: string }) | undefined {
  const match = /^(https?):\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\]):(\d{1,5})$/i.exec(url);
  return match ? { scheme: match[1]!, host: match[2]!, port: Number(match[3]) } : undefined;
}

function hostOfPeer(peer: string): string {
  const host = peer.slice(0, peer.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1');
  // IPv4 on a socket of both.
  const plain = host.replace(/^::ffff:(?=\d+\.)/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}

import { nodeState } from './cluster-view.js';
import { describeBytes, describeCount, describeDuration, describePixels, describeSpeed, plural } from './quantities.js';
import { decoded, describeLacks, shownPath } from './sentences.js';

/**
 * @import { LeftNode, NodeStatus, WorkersAtWork } from '@halogrid/proto'
 * @import { Rates } from './rates.js'
 */

/**
 * The texts on the card of an attached node.
 *
 * @param {NodeStatus} node
 * @param {number} ms now
 * @param {Rates} rates
 */
export function nodeCard(node, ms, rates) {
  const { device, leases, leasedBytes, creditBytes, threads, shardsDone, shardsFailed } = node;
  return {
    name: node.name,
    state: nodeState(node),
    device: device ? `${device.kind}: ${device.name}` : 'unknown device',
    /** @type {[name: string, value: string][]} */
    rows: [
      ['throughput', describeSpeed(rates.of(`node ${node.nodeId}`))],
      ['holds', describeHeld(leases, leasedBytes, creditBytes)],
      ['done', `${plural(shardsDone, 'shard')}, ${describePixels(node.pixelsDone)}`],
      ['failed', shardsFailed > 0 ? plural(shardsFailed, 'shard') : 'none'],
      ['threads', threads > 0 ? `${describeCount(threads)} for reading and decoding` : 'not reported'],
      // A node without videos has no row for them.
      ...node.load.filter(({ kind, busy, queued }) => kind !== 'video' || busy + queued > 0).map(workerRow),
      ...cardRows(device),
      ['attached', `${describeDuration(ms - node.attachedMs)} ago`],
      ...sightRows(node.sees),
    ],
    lacks: describeLacks(node.lacks),
    lastFailure: node.lastFailure && `${describeDuration(ms - node.lastFailureMs)} ago: ${node.lastFailure}`,
  };
}

/** @type {Record<string, string>} */
const workers = { decode: 'decoding', video: 'videos', device: 'computing' };

/** `decoding`: `3.2 of 4 busy, 5 waiting`. @param {WorkersAtWork} load @returns {[name: string, value: string]} */
function workerRow({ kind, workers: all, busy, queued }) {
  const waits = queued > 0 ? `, ${describeCount(queued)} waiting` : '';
  return [workers[kind] ?? kind, `${busy > 0 ? busy.toFixed(1) : 'none'} of ${describeCount(all)} busy${waits}`];
}

/**
 * Rows about the GPU of a device; none for a CPU.
 *
 * @param {NodeStatus['device']} device
 * @returns {[name: string, value: string][]}
 */
function cardRows(device) {
  if (!device || device.kind === 'cpu') return [];
  return [
    ['GPU', device.gpu ? `${device.gpu.uuid} at ${device.gpu.pciBusId}` : 'not known to be one NVIDIA card'],
    ['driver', device.driver || 'not reported'],
  ];
}

/** @param {number} leases @param {number} leased @param {number} credit bytes */
function describeHeld(leases, leased, credit) {
  return `${plural(leases, 'shard')}, ${describeBytes(leased)} of ${describeBytes(credit)}`;
}

/** Places that are listed for each verb, at most. */
const mostPlaces = 4;

/**
 * What a node has shown that it can do, by verb: `reads`, `writes`, `decodes`.
 *
 * @param {readonly string[]} sees as Lack.need names it
 * @returns {[name: string, value: string][]}
 */
function sightRows(sees) {
  if (sees.length === 0) return [['sees', 'not checked yet']];
  const needs = sees.map((need) => /** @type {[string, string]} */ (need.split(/ (.*)/s)));
  return [...Map.groupBy(needs, ([verb]) => verb)].map(([verb, ofVerb]) => {
    const all = [...new Set(ofVerb.map(([, what]) => describePlace(what)))];
    // A node that reads a folder also reads the folders in it.
    const places = all.filter((place) => !all.some((other) => place.startsWith(`${other}/`)));
    const more = places.length > mostPlaces ? [`${places.length - mostPlaces} more`] : [];
    return [`${verb}s`, [...places.slice(-mostPlaces), ...more].join(', ')];
  });
}

/**
 * A place as people know it. Nodes write into a folder of ours below the output folder, which is left out.
 *
 * @param {string} uri or what is decoded
 */
const describePlace = (uri) => decoded[uri] ?? shownPath(uri).replace(/\/\.halogrid$/, '');

/**
 * A node that left, as the cells of a table row.
 *
 * @param {LeftNode} node
 * @param {number} ms now
 */
export function leftRow(node, ms) {
  return {
    isLost: node.isLost,
    cells: [
      node.name,
      `${describeDuration(ms - node.leftMs)} ago`,
      node.lastFailure ? `${node.reason}; its last failure: ${node.lastFailure}` : node.reason,
      node.gpuUuid ? `${node.device} (${node.gpuUuid})` : node.device,
      describeCount(node.shardsDone),
      describePixels(node.pixelsDone),
    ],
  };
}

/**
 * The figures at the top of the page of nodes.
 *
 * @param {readonly NodeStatus[]} nodes
 * @param {readonly LeftNode[]} left
 * @param {Rates} rates
 * @returns {[name: string, value: string][]}
 */
export function nodeFigures(nodes, left, rates) {
  /** @param {(node: NodeStatus) => number} of */
  const sum = (of) => nodes.reduce((all, node) => all + of(node), 0);
  return [
    ['Attached', describeCount(nodes.length)],
    ['Throughput', describeSpeed(sum(({ nodeId }) => rates.of(`node ${nodeId}`)))],
    ['Shards held', describeCount(sum(({ leases }) => leases))],
    ['Set aside or draining', describeCount(sum((node) => Number(node.draining || node.setAsideUntilMs > 0)))],
    ['Lost in the last 24 hours', describeCount(left.filter(({ isLost }) => isLost).length)],
  ];
}

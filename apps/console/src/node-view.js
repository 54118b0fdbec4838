import { nodeState } from './cluster-view.js';
import { describeBytes, describeCount, describeDuration, describePixels, describeSpeed } from './quantities.js';
import { describeLack, pathOf } from './sentences.js';

/**
 * @import { LeftNode, NodeDetail } from '@halogrid/proto'
 * @import { Rates } from './rates.js'
 */

/**
 * An attached node in words.
 *
 * @param {NodeDetail} node
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
      ['threads', threads > 0 ? `${describeCount(threads)} that read and decode` : 'not told'],
      ['GPU', device?.gpu ? `${device.gpu.uuid} at ${device.gpu.pciBusId}` : 'none of NVIDIA'],
      ['driver', device?.driver || 'not told'],
      ['attached', `${describeDuration(ms - node.attachedMs)} ago`],
      ['sees', describeSights(node.sees)],
    ],
    lacks: node.lacks.map(describeLack),
    lastFailure: node.lastFailure && `${describeDuration(ms - node.lastFailureMs)} ago: ${node.lastFailure}`,
  };
}

/** @param {number} leases @param {number} leased @param {number} credit bytes */
function describeHeld(leases, leased, credit) {
  return `${plural(leases, 'shard')}, ${describeBytes(leased)} of ${describeBytes(credit)}`;
}

/** What is told of what a node sees, at most. */
const mostSeen = 4;

/** @param {readonly string[]} sees */
function describeSights(sees) {
  if (sees.length === 0) return 'was not asked yet';
  const more = sees.length > mostSeen ? [`${sees.length - mostSeen} more`] : [];
  return [...sees.slice(-mostSeen).map(describeSight), ...more].join(', ');
}

/** `reads /data`, `writes /out`, `decodes video`. @param {string} need as Lack.need names it */
function describeSight(need) {
  const [verb = '', what = ''] = need.split(/ (.*)/s);
  return `${verb}s ${pathOf(what)}`;
}

/**
 * A node that is gone, a cell each.
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
 * @param {readonly NodeDetail[]} nodes
 * @param {readonly LeftNode[]} left
 * @param {Rates} rates
 * @returns {[name: string, value: string][]}
 */
export function nodeFigures(nodes, left, rates) {
  /** @param {(node: NodeDetail) => number} of */
  const sum = (of) => nodes.reduce((all, node) => all + of(node), 0);
  return [
    ['Attached', describeCount(nodes.length)],
    ['Throughput', describeSpeed(sum(({ nodeId }) => rates.of(`node ${nodeId}`)))],
    ['Shards held', describeCount(sum(({ leases }) => leases))],
    ['Set aside or draining', describeCount(sum((node) => Number(node.draining || node.setAsideUntilMs > 0)))],
    ['Lost within a day', describeCount(left.filter(({ isLost }) => isLost).length)],
  ];
}

/** @param {number} count @param {string} noun */
const plural = (count, noun) => `${describeCount(count)} ${noun}${count === 1 ? '' : 's'}`;

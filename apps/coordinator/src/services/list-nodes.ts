import type { NodesListResponse } from '@halogrid/proto';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { toNodeStatus } from './job-status.ts';

/** Every attached node, and those that were within a day. */
export const listNodes = (dispatcher: Pick<Dispatcher, 'nodes' | 'leftNodes'>): NodesListResponse => ({
  nodes: dispatcher.nodes().map(toNodeStatus),
  left: dispatcher.leftNodes(),
});

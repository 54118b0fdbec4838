import type { NodesListResponse } from '@halogrid/proto';
import type { WorkView } from '../dispatch/work-view.ts';
import { toNodeStatus } from './job-status.ts';

/** Every attached node, and the nodes that left within a day. */
export const listNodes = (view: Pick<WorkView, 'nodes' | 'leftNodes'>): NodesListResponse => ({
  nodes: view.nodes().map(toNodeStatus),
  left: view.leftNodes(),
});

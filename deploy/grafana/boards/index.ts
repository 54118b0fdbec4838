import type { Dashboard } from '../dashboard.ts';
import { jobBoard } from './job.ts';
import { ledgerBoard } from './ledger.ts';
import { nodesBoard } from './nodes.ts';
import { overviewBoard } from './overview.ts';
import { throughputBoard } from './throughput.ts';

/** All boards; the first is Grafana's home. */
export const boards: readonly Dashboard[] = [overviewBoard, nodesBoard, throughputBoard, ledgerBoard, jobBoard];

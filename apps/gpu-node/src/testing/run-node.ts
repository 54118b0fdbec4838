// A node on cores in its own process, for tests that kill it: node run-node.ts HOST:PORT of its coordinator.
import { pino } from 'pino';
import { createNodeConfig } from '../config.ts';
import { startNode } from '../node.ts';

const config = createNodeConfig({ coordinator: process.argv[2]!, device: 'cpu', http: '127.0.0.1:0' });
const { code } = await startNode(config, pino({ name: 'node' }), new AbortController().signal);
process.exit(code);

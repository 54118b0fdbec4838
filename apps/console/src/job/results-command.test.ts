import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultsCommand } from './results-command.js';

const table: [grpcPort: number, page: string, options: string][] = [
  [7070, 'http://127.0.0.1:9464', ''],
  [7070, 'http://localhost:9464', ''],
  [7071, 'http://127.0.0.1:9464', ' --coordinator 127.0.0.1:7071'],
  [7070, 'http://127.0.0.1:8080', ' --http 127.0.0.1:8080'],
  [7070, 'http://gpu-1:9464', ' --coordinator gpu-1:7070'],
  [7000, 'https://gpu-1', ' --coordinator gpu-1:7000 --http gpu-1:443'],
  [7070, 'http://[::1]', ' --coordinator [::1]:7070 --http [::1]:80'],
];

for (const [grpcPort, page, options] of table) {
  test(`the results of a job, seen at ${page} with gRPC on ${grpcPort}`, () =>
    assert.equal(resultsCommand('j1', grpcPort, new URL(page)), `halogrid results j1 --out FOLDER${options}`));
}

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { bundleClient } from './bundle-client.mjs';

test('the client for browsers contains no code of Node, gRPC or the encoders of messages', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-client-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const modules = await bundleClient(folder);
  const homes = new Set(modules.map((path) => /^(node_modules\/(@[^/]+\/)?[^/]+|libs\/[^/]+)/.exec(path)?.[0] ?? path));
  assert.deepEqual([...homes].sort(), ['libs/client', 'libs/proto', 'node_modules/hyparquet']);
});

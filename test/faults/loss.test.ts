import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('./lossy-work.ts', import.meta.url));

/** Runs a command in a separate network namespace, where one of a hundred incoming TCP segments is lost. */
function whereLost(command: readonly string[]) {
  const drop = 'iptables -A INPUT -i lo -p tcp -m statistic --mode random --probability 0.01 -j DROP';
  const script = `ip link set lo up && ${drop} && exec "$@"`;
  // Without the test runner's variable, because it would make the program one of its tests.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync('unshare', ['-n', 'sh', '-c', script, 'sh', ...command], { encoding: 'utf8', env });
}

const canLose = process.platform === 'linux' && whereLost(['true']).status === 0;
const skip = canLose ? false : 'losing packets takes root, unshare, ip and iptables with its statistic module';

test('with one lost packet in a hundred, TCP sends it again, and no shard is sent twice', { skip }, (t) => {
  const { status, stdout, stderr } = whereLost([process.execPath, program]);
  assert.equal(status, 0, stderr);
  const { attempts, expired, shards, resent } = JSON.parse(stdout);
  t.diagnostic(`${resent} segments were sent again`);
  assert.ok(resent > 0, 'Nothing was lost');
  assert.deepEqual([attempts, expired], [shards, 0]);
});

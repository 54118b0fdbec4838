import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('./lossy-work.ts', import.meta.url));

/** Runs a command where TCP's segments are lost, one of a hundred, on the way in: in a network namespace of its own. */
function whereLost(command: readonly string[]) {
  const drop = 'iptables -A INPUT -i lo -p tcp -m statistic --mode random --probability 0.01 -j DROP';
  const script = `ip link set lo up && ${drop} && exec "$@"`;
  // What the runner of these tests has set would make the program one of its tests.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync('unshare', ['-n', 'sh', '-c', script, 'sh', ...command], { encoding: 'utf8', env });
}

const canLose = process.platform === 'linux' && whereLost(['true']).status === 0;
const skip = canLose ? false : 'losing packets takes root, unshare, ip and iptables with its statistic module';

test('one packet of a hundred is lost: TCP sends it again, and no shard twice', { skip }, (t) => {
  const { status, stdout, stderr } = whereLost([process.execPath, program]);
  assert.equal(status, 0, stderr);
  const { attempts, expired, shards, resent } = JSON.parse(stdout);
  t.diagnostic(`${resent} segments were sent again`);
  assert.ok(resent > 0, 'Nothing was lost');
  assert.deepEqual([attempts, expired], [shards, 0]);
});

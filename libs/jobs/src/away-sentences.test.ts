import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coordinatorLack, hostStaysAway, waitsForHost } from './away-sentences.ts';

const lack = coordinatorLack({
  place: 'http://archive',
  reason: "The host 'archive' refuses connections (http://archive/a.jpg)",
});

test('a host that is away is named once', () => {
  assert.equal(
    waitsForHost(lack),
    "It waits for host 'archive': the coordinator cannot read from it: it refuses connections (http://archive/a.jpg)",
  );
  assert.match(
    hostStaysAway(lack, 3000),
    /^The host 'archive' was away for 3 s, as long as the job waits for it: the coordinator cannot read from it: it refuses connections \(.*\); mend /,
  );
});

test('a reason that does not begin with the host stays as it is', () => {
  const reason = "There is no secure connection to the host 'archive': it speaks no TLS that is known here";
  assert.ok(waitsForHost({ ...lack, reason }).endsWith(reason));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseIsolation, type IsolationFacts } from './isolation.ts';

const facts: IsolationFacts = {
  platform: 'linux',
  // As in a Docker container as root.
  capEff: '00000000a80425fb',
  maxUserNamespaces: 96365,
  unprivilegedUserNamespaces: undefined,
  appArmorRestricts: undefined,
};

const table: [string, Partial<IsolationFacts>, string, RegExp?][] = [
  ['root', { capEff: '000001ffffffffff' }, 'mount namespace'],
  ['CAP_SYS_ADMIN alone', { capEff: '0000000000200000' }, 'mount namespace'],
  ['root where user namespaces are off', { capEff: '000001ffffffffff', maxUserNamespaces: 0 }, 'mount namespace'],
  ['a user', { capEff: '0000000000000000' }, 'user namespace'],
  ['a user on Debian', { unprivilegedUserNamespaces: 1 }, 'user namespace'],
  ['a user, none allowed', { maxUserNamespaces: 0 }, 'refused', /CAP_SYS_ADMIN.*user\.max_user_namespaces = 0/],
  ['a user, not built in', { maxUserNamespaces: undefined }, 'refused', /CAP_SYS_ADMIN.*are not in this kernel/],
  ['a user on hardened Debian', { unprivilegedUserNamespaces: 0 }, 'refused', /unprivileged_userns_clone = 0/],
  ['a user on Ubuntu 24', { appArmorRestricts: 1 }, 'refused', /apparmor_restrict_unprivileged_userns = 1/],
  ['a Mac', { platform: 'darwin' }, 'refused', /needs Linux, and this is darwin/],
];

for (const [name, more, kind, reason] of table) {
  test(`${name}: ${kind}`, () => {
    const isolation = chooseIsolation({ ...facts, ...more });
    assert.equal(isolation.kind, kind);
    if (isolation.kind === 'refused') assert.match(isolation.reason, reason!);
  });
}

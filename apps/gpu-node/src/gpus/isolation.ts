/** How to start a process that sees one card alone. */
export type Isolation =
  /** In its own mount namespace, in which /dev/null is mounted over the other device files. */
  | { kind: 'mount namespace' }
  /** The same inside a user namespace: the process is root in there, with the rights of the user that started it. */
  | { kind: 'user namespace' };

/** What the kernel says about permissions to isolate. */
export interface IsolationFacts {
  platform: string;
  /** Effective capabilities, CapEff of /proc/self/status in hexadecimal. */
  capEff: string;
  /** /proc/sys/user/max_user_namespaces; undefined if the file does not exist. */
  maxUserNamespaces: number | undefined;
  /** kernel.unprivileged_userns_clone of Debian's kernels. */
  unprivilegedUserNamespaces: number | undefined;
  /** kernel.apparmor_restrict_unprivileged_userns of Ubuntu's kernels. */
  appArmorRestricts: number | undefined;
}

/** CAP_SYS_ADMIN, the capability to mount. */
const sysAdminBit = 21n;

/** How to isolate here, or why that is not permitted, as the end of a sentence. */
export function chooseIsolation(facts: IsolationFacts): Isolation | { kind: 'refused'; reason: string } {
  if (facts.platform !== 'linux') return { kind: 'refused', reason: `it needs Linux, and this is ${facts.platform}` };
  if ((BigInt(`0x${facts.capEff}`) >> sysAdminBit) & 1n) return { kind: 'mount namespace' };
  const without = 'this process lacks the capability CAP_SYS_ADMIN, and user namespaces, which do without it,';
  if (facts.maxUserNamespaces === undefined) return { kind: 'refused', reason: `${without} are not in this kernel` };
  const closed = [
    facts.maxUserNamespaces === 0 && 'user.max_user_namespaces = 0',
    facts.unprivilegedUserNamespaces === 0 && 'kernel.unprivileged_userns_clone = 0',
    facts.appArmorRestricts === 1 && 'kernel.apparmor_restrict_unprivileged_userns = 1',
  ].filter(Boolean);
  if (closed.length > 0) return { kind: 'refused', reason: `${without} are switched off (${closed.join(', ')})` };
  return { kind: 'user namespace' };
}

/** Mounts /dev/null over each of the first $1 paths, then becomes the command after them. */
const script =
  'n=$1; shift; while [ "$n" -gt 0 ]; do mount --bind /dev/null "$1" || exit 125; shift; n=$((n-1)); done; exec "$@"';

/**
 * The words to put before a command so that it does not see the device files `hidden`. The command keeps the process
 * id, open files and signals of the started process.
 */
export function isolationPrefix({ kind }: Isolation, hidden: readonly string[]): string[] {
  const user = kind === 'user namespace' ? ['--user', '--map-root-user'] : [];
  return ['unshare', ...user, '--mount', '--', 'sh', '-c', script, 'sh', String(hidden.length), ...hidden];
}

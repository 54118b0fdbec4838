/**
 * Options that a halogrid.toml in the working folder may not set, with the reason. Such a file may come with an archive
 * of images, and the person who works there may not have read it. So it may set how images are computed, but not what
 * the program connects to, which secrets it uses, what it opens to others, or what it writes outside the folder. An
 * option that is in neither list is refused, too.
 */
export const notOfFolder: Readonly<Record<string, string>> = {
  ...reason('it says who is given the token', ['coordinator', 'coordinator-file', 'advertise', 'http']),
  ...reason('it names a secret, or who is trusted', [
    'token-file',
    'tokens',
    'owners',
    'oidc-issuer',
    'oidc-audience',
    'oidc-name',
    'identity-header',
    'trusted-proxy',
    'tls-ca',
    'tls-cert',
    'tls-key',
    'ledger-file',
  ]),
  ...reason('it opens something to others', [
    'listen',
    'insecure-network',
    'data-root',
    'allow-host',
    'allow-origin',
    'index',
    'storage',
  ]),
  ...reason('it says where files outside of the folder are written', [
    'ledger',
    'out',
    'scratch',
    'to',
    'trace',
    'write',
  ]),
  ...reason('it chooses what is read instead of the sources', ['part', 'plan']),
  ...reason('it removes what was kept before', ['fresh', 'forget', 'compact', 'retention', 'older-than', 'unfinished']),
};

/** Options that it may set. */
export const ofFolder: ReadonlySet<string> = new Set([
  // What is computed.
  ...['op', 'pipeline', 'border', 'grid', 'map', 'block', 'distance', 'cells', 'region'],
  ...['every', 'from', 'fps', 'captured-from', 'captured-zone', 'include', 'exclude', 'column'],
  ...['band', 'scale', 'level', 'page', 'nodata', 'mask'],
  // How it is cut, and where on this machine it runs.
  ...['tile', 'batch', 'split-images', 'nodes', 'device', 'decode', 'gpu', 'hwaccel', 'name', 'credit'],
  // When it waits or fails.
  ...['priority', 'verify', 'max-quarantined', 'wait-for-node', 'checksum', 'wait', 'drain'],
  ...[
    'source-grace',
    'space-grace',
    'node-grace',
    'node-timeout',
    'device-timeout',
    'decoder-timeout',
    'drain-timeout',
    'idle-exit',
  ],
  // What is shown.
  ...[
    'json',
    'dry-run',
    'quiet',
    'verbose',
    'log-level',
    'log-format',
    'state',
    'owner',
    'mine',
    'since',
    'until',
    'limit',
    'camera',
    'kind',
    'top',
    'per-source',
    'group',
  ],
  ...['min-duration', 'threshold'],
  // What is measured.
  ...['width', 'height', 'repetitions', 'quick', 'frames', 'format', 'quality', 'scene'],
]);

function reason(why: string, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, why]));
}

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { updateNotices } from './notices.mjs';

const text = `# Notices
| package | version | declared | inside | source |
| --- | --- | --- | --- | --- |
| gone | 1.0.0 | MIT | a library | https://gone |
| big | 1.0.0 | MIT | a library | https://big |

More.
| package | version | licence | source |
| --- | --- | --- | --- |
| small | 1.0.0 | MIT | https://small |

End.
`;

test('versions and licences follow the lock file, written cells stay, and packages come and go', () => {
  const locked = {
    '': { version: '0.1.0' },
    'node_modules/small': { version: '1.1.0', license: 'ISC' },
    'node_modules/big': { version: '2.0.0', license: 'MIT' },
    'node_modules/new': { version: '1.0.0', license: 'MIT' },
    'node_modules/big/node_modules/small': { version: '1.0.0', license: 'MIT' },
    'node_modules/other/node_modules/small': { version: '1.0.0', license: 'MIT' },
    'node_modules/tool': { version: '1.0.0', license: 'MIT', dev: true },
    'node_modules/ours': { link: true },
  };
  assert.equal(
    updateNotices(text, locked, (place) => `https://source/${place}`),
    `# Notices
| package | version | declared | inside | source |
| --- | --- | --- | --- | --- |
| big | 2.0.0 | MIT | a library | https://big |

More.
| package | version | licence | source |
| --- | --- | --- | --- |
| new | 1.0.0 | MIT | https://source/node_modules/new |
| small | 1.0.0 | MIT | https://small |
| small | 1.1.0 | ISC | https://small |

End.
`,
  );
});

test('the notices are up to date with the lock file', () => {
  const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
  const notices = read('THIRD-PARTY-NOTICES.md');
  const { packages } = JSON.parse(read('package-lock.json'));
  const updated = updateNotices(notices, packages, () => 'unknown');
  assert.ok(updated === notices, "'npm run notices' brings them up to it");
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonToInstall } from './reason-to-install.mjs';

const lock = (packages) => ({ packages: { '': { version: '0.1.0' }, ...packages } });
const record = (packages) => ({ packages });

const table = [
  ['no record of an installation', lock({}), undefined, 'an earlier installation did not finish'],
  ['nothing is wanted', lock({}), record({}), undefined],
  [
    'everything is there',
    lock({
      'node_modules/a': { version: '1.0.0' },
      'node_modules/lib': { link: true },
      'libs/lib': { version: '0.1.0' },
    }),
    record({
      'node_modules/a': { version: '1.0.0' },
      'node_modules/lib': { link: true },
      'libs/lib': { version: '0.1.0' },
    }),
    undefined,
  ],
  ['a package is missing', lock({ 'node_modules/@x/a': { version: '1.0.0' } }), record({}), '@x/a is missing'],
  [
    'a nested package is another version',
    lock({ 'node_modules/a/node_modules/b': { version: '2.0.0' } }),
    record({ 'node_modules/a/node_modules/b': { version: '1.0.0' } }),
    'b is 1.0.0 but should be 2.0.0',
  ],
  ["another platform's package is absent", lock({ 'node_modules/a': { optional: true } }), record({}), undefined],
  [
    'an optional package is another version',
    lock({ 'node_modules/a': { version: '2.0.0', optional: true } }),
    record({ 'node_modules/a': { version: '1.0.0' } }),
    'a is 1.0.0 but should be 2.0.0',
  ],
  ['more than wanted is installed', lock({}), record({ 'node_modules/a': { version: '1.0.0' } }), undefined],
];

for (const [name, wanted, installed, reason] of table) {
  test(`the reason to install when ${name}: ${reason ?? 'none'}`, () => {
    assert.equal(reasonToInstall(wanted, installed), reason);
  });
}

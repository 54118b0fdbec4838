import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataFolder } from './data-folder.ts';

test('data are in XDG_DATA_HOME if that is set, else below the home', () => {
  assert.equal(dataFolder({ XDG_DATA_HOME: '/somewhere' }), '/somewhere/halogrid');
  assert.equal(
    dataFolder({}, () => '/home/me'),
    '/home/me/.local/share/halogrid',
  );
});

test('a user without a home has no folder for data', () => {
  const nobody = () => {
    throw new Error('uv_os_homedir returned ENOENT');
  };
  for (const home of [nobody, () => '']) assert.equal(dataFolder({}, home), undefined);
});

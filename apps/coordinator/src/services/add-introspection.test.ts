import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server } from '@grpc/grpc-js';
import { addIntrospection } from './add-introspection.ts';
import { standardMethods } from './introspection.ts';

test('the registered methods are the ones that the libraries serve', () => {
  const registered: string[] = [];
  const server = new Server();
  server.register = (path, _handle, _serialize, _deserialize, kind) => {
    registered.push(`${kind} ${path}`);
    return true;
  };
  addIntrospection(server);
  const served = [...standardMethods()].map(([path, { kind }]) => `${kind} ${path}`);
  assert.deepEqual(registered.sort(), served.sort());
});

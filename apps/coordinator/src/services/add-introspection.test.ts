import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server } from '@grpc/grpc-js';
import { addIntrospection } from './add-introspection.ts';
import { standardMethods } from './introspection.ts';

test('what is registered without its libraries is what they serve', () => {
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PartFound, SearchPart } from '@halogrid/proto';
import { PartSearches } from './part-searches.ts';

const found = (search: number, version: string): PartFound => PartFound.fromPartial({ search, version });

test('an answer is taken once, and only from the conversation that was asked; the end of the conversation rejects', async () => {
  const searches = new PartSearches();
  const asked: SearchPart[] = [];
  const ask = (session: number): Promise<PartFound> =>
    searches.ask({ session, search: (part) => asked.push(part) }, SearchPart.fromPartial({ index: 'file:///i' }));
  const [one, other, gone] = [ask(1), ask(2), ask(3)];
  assert.deepEqual(
    asked.map(({ search, index }) => [search, index]),
    [
      [1, 'file:///i'],
      [2, 'file:///i'],
      [3, 'file:///i'],
    ],
  );
  searches.answered(2, found(1, 'of another'));
  searches.answered(1, found(1, 'own'));
  searches.answered(1, found(1, 'again'));
  searches.answered(2, found(9, 'of no order'));
  searches.left(3);
  searches.answered(3, found(3, 'too late'));
  searches.answered(2, found(2, 'its own'));
  assert.deepEqual([(await one).version, (await other).version], ['own', 'its own']);
  await assert.rejects(gone, { message: 'The node is gone' });
});

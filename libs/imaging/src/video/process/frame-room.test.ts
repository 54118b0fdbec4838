import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameRoom } from './frame-room.ts';

test('frames never overlap, lie inside, and what was freed is there again', () => {
  const steps = fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 400 }), free: fc.nat(9) }), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (all) => {
      const room = new FrameRoom(1000);
      const out: { from: number; bytes: number }[] = [];
      for (const { bytes, free } of all) {
        const from = room.take(bytes);
        if (from !== undefined) {
          assert.ok(from >= 0 && from % 64 === 0 && from + bytes <= 1000);
          for (const one of out) assert.ok(from >= one.from + one.bytes || from + bytes <= one.from);
          out.push({ from, bytes });
        } else assert.ok(out.length > 0, 'an empty room takes any frame that it is large enough for');
        if (free < out.length) room.free(out.splice(free, 1)[0]!.from);
      }
      for (const { from } of out) room.free(from);
      assert.equal(room.take(1000), 0);
    }),
  );
});

import fc from 'fast-check';

const offset = fc
  .tuple(fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 64 })), fc.integer({ min: 0, max: 7 }))
  .map(([distance, eighth]) => `${distance}@${45 * eighth}`);

/** Parameters of glcm; few levels, whose codes fit a byte, as often as many. */
export const glcmArbitrary: fc.Arbitrary<Record<string, string>> = fc.record({
  levels: fc.oneof(fc.integer({ min: 2, max: 16 }), fc.integer({ min: 17, max: 64 })).map(String),
  offsets: fc.uniqueArray(offset, { minLength: 1, maxLength: 6 }).map((offsets) => offsets.join('+')),
  symmetric: fc.constantFrom('false', 'true'),
});

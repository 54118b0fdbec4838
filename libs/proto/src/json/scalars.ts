import { type DescField, ScalarType } from '@bufbuild/protobuf';
import { FieldOptions_JSType } from '@bufbuild/protobuf/wkt';

const int32: [least: number, most: number] = [-(2 ** 31), 2 ** 31 - 1];
const uint32: [least: number, most: number] = [0, 2 ** 32 - 1];
const int64: [least: number, most: number] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
const uint64: [least: number, most: number] = [0, Number.MAX_SAFE_INTEGER];

/** The range of each integer type. 64-bit types have the range in which a JSON number is exact. */
export const wholeRanges: { readonly [Type in ScalarType]?: [least: number, most: number] } = {
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
};

/**
 * Whether a field may hold integers above that range. Such a field is digits in the message; in JSON, integers above
 * the range are strings.
 */
export const isExact = ({ proto }: DescField): boolean => proto.options?.jstype === FieldOptions_JSType.JS_STRING;

/** The largest integer that JSON has as a number. */
export const mostExact = 2 ** 53;

/** The JSON value of an integer that is given as digits: a number up to `mostExact`, the digits above it. */
export function exactNumber(digits: string): number | string {
  const number = Number(digits);
  return number < mostExact || digits === String(mostExact) ? number : digits;
}

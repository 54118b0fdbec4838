import { type DescField, ScalarType } from '@bufbuild/protobuf';
import { FieldOptions_JSType } from '@bufbuild/protobuf/wkt';

const int32: [least: number, most: number] = [-(2 ** 31), 2 ** 31 - 1];
const uint32: [least: number, most: number] = [0, 2 ** 32 - 1];
const int64: [least: number, most: number] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
const uint64: [least: number, most: number] = [0, Number.MAX_SAFE_INTEGER];

/** Whole numbers by their types: those of 64 bits have the range in which a number of JSON is exact. */
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
 * Whether a field has whole numbers that may be above that range: digits in a message, in JSON strings where they are.
 */
export const isExact = ({ proto }: DescField): boolean => proto.options?.jstype === FieldOptions_JSType.JS_STRING;

/** As a number, at most. */
export const mostExact = 2 ** 53;

/** A whole number, given by its digits, as JSON has it. */
export function exactNumber(digits: string): number | string {
  const number = Number(digits);
  return number < mostExact || digits === String(mostExact) ? number : digits;
}

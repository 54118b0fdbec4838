export { randomCodes, type TestCodes } from './random-codes.ts';
export { randomSource } from './random-source.ts';

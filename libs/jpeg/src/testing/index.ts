export { randomSource } from '@halogrid/imaging/testing-codes';
export { groupChunks } from '../frame/passes.ts';
export { fileWords } from '../gpu/batch-layout.ts';
export { mutate } from './mutate.ts';
export { type MadeUpJpeg, writeJpeg } from './write-jpeg.ts';

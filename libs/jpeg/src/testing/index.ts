export { groupChunks } from '../frame/passes.ts';
export { fileWords } from '../gpu/batch-layout.ts';
export { mutate } from './mutate.ts';
export { randomSource } from './random-source.ts';
export { type MadeUpJpeg, writeJpeg } from './write-jpeg.ts';

export { commentAndEnd } from './comment-at-end.ts';
export { buildHuffmanTable, type HuffmanTable, longLengths, lookUp, lookupBits, maxTables } from './huffman-table.ts';
export { huffmanFrames, isRestart, marker } from './markers.ts';
export { type Component, readSegment, type Segments, Unusual } from './read-segment.ts';

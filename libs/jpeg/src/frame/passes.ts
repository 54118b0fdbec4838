// How the work is cut. The twin and the device cut alike, so that what one calls settled the other does as well.

/**
 * Bytes of a file that one lane decodes. Shorter chunks make more lanes, but a lane that begins at a guessed place
 * takes some hundred bits to fall into step, and more of its work is in vain.
 */
export const chunkBytes = 64;
/** Bytes that a chunk has of what follows it: a code and its value, 31 bits at most, may begin with its last bit. */
export const aheadBytes = 4;
export const chunkWords = (chunkBytes + aheadBytes) / 4;
/** Chunks whose lanes wait for each other: a workgroup. */
export const groupChunks = 128;
/**
 * Passes over all chunks until groups agree on where each of them begins: what has not settled by then is doubt. The
 * first decodes, and each later one carries what is exact at least one group further, 8 kB. Photographs take two, and
 * one that finds nothing to do. Where all components share their tables nothing tells the blocks of an MCU apart, and
 * only restart markers settle it.
 */
export const settlePasses = 8;
/** Luma blocks that a workgroup transforms, 8 lanes each. */
export const groupBlocks = 32;
/**
 * The state that a chunk is decoded from whose begin nobody knows: its first bit, where an MCU begins. It is that of
 * the first of all.
 */
export const guess = 0;

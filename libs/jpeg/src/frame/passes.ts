// How the work is cut. The twin and the device cut it in the same way, so that both settle the same chunks.

/**
 * Bytes of a file that one lane decodes. Shorter chunks make more lanes. But a lane that begins at a guessed place
 * takes some hundred bits to fall into step, so more of its work would be wasted.
 */
export const chunkBytes = 64;
/**
 * Bytes after a chunk that its lane may read: a code and its value, at most 31 bits, may begin with the chunk's last
 * bit.
 */
export const aheadBytes = 4;
export const chunkWords = (chunkBytes + aheadBytes) / 4;
/** Chunks of a workgroup, whose lanes wait for each other. */
export const groupChunks = 128;
/**
 * Passes over all chunks until groups agree on where each of them begins. Groups that have not settled by then are in
 * doubt. The first pass decodes, and each later one carries exact results at least one group further, 8 kB. Photographs
 * take two, and a third one that changes nothing. If all components share their tables, the blocks of an MCU look
 * alike, and only restart markers settle the matter.
 */
export const settlePasses = 8;
/** Luma blocks that a workgroup transforms, 8 lanes each. */
export const groupBlocks = 32;
/**
 * The assumed state for a chunk whose beginning is unknown: a block begins with its first bit, and an MCU with that
 * block. For the first chunk this is the true state.
 */
export const guess = 0;

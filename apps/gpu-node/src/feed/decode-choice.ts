/** The decoder of JPEGs: whatever is fastest for the node, the device wherever possible, or cores alone. */
export const decodeChoices = ['auto', 'gpu', 'cpu'] as const;
export type DecodeChoice = (typeof decodeChoices)[number];

/** Who decodes JPEGs: the node as it is quickest, the device wherever it can, or cores alone. */
export const decodeChoices = ['auto', 'gpu', 'cpu'] as const;
export type DecodeChoice = (typeof decodeChoices)[number];

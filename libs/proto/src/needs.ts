/** What shards may need of a node, as Lack.need and ShardFailed.need name it. */

/** Files below that URI are read. */
export const readNeed = (uri: string): string => `read ${uri}`;

/** Files are written below that folder URI. */
export const writeNeed = (uri: string): string => `write ${uri}`;

/** What is packed that way is decoded. */
export const decodeNeed = ({ decodes }: { decodes: 'jpeg' | 'video' }): string => `decode ${decodes}`;

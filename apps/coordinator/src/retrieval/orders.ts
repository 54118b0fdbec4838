import type { Rect } from '@halogrid/geometry';
import type {
  ChangesRequest,
  ChangesResponse,
  IndexStatus,
  ListFramesRequest,
  ListFramesResponse,
  SearchRequest,
  SearchResponse,
} from '@halogrid/proto';
import type { SourceAccess } from '@halogrid/sources';
import type { RefusalKind } from '../job/refusal.ts';

/** A picture as a PNG, and the size of what it shows. */
export interface Picture {
  png: Uint8Array;
  width: number;
  height: number;
}

/** What the process of retrieval is asked, and what it answers. Folders are paths that it may read, whatever else it may. */
export interface Orders {
  indexes: { order: readonly { name: string; folder: string }[]; answer: IndexStatus[] };
  frames: { order: { folder: string; request: ListFramesRequest }; answer: ListFramesResponse };
  search: { order: { folder: string; request: SearchRequest }; answer: SearchResponse };
  changes: { order: { folder: string; request: ChangesRequest }; answer: ChangesResponse };
  /** `side`: pixels at most. */
  picture: { order: { ticket: string; of: 'frame' | 'map'; side: number }; answer: Picture };
  /** Whether parts of the image can be shown. */
  readsParts: { order: { uri: string }; answer: boolean };
  /** A part of an image, or all of a frame, of a URI that the process may read. */
  region: { order: { uri: string; videoFrame?: number; region?: Rect; side: number }; answer: Picture };
}

export type OrderKind = keyof Orders;

/** The first message to the process. */
export interface Setup {
  access: SourceAccess;
  /** What its tickets are signed with. */
  secret: Uint8Array;
  /** An empty folder of its own, which it removes in the end. */
  folder: string;
}

export type Order = { [Kind in OrderKind]: { id: number; kind: Kind; order: Orders[Kind]['order'] } }[OrderKind];

/** Without a kind, what went wrong is no fault of who asked. */
export type Answer =
  | { id: number; answer: Orders[OrderKind]['answer'] }
  | { id: number; sentence: string; kind?: RefusalKind };

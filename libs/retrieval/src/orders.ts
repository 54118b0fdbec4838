import type { Rect } from '@halogrid/geometry';
import type { RefusalKind } from '@halogrid/jobs/refusal';
import type {
  ChangesRequest,
  ChangesResponse,
  FrameHistograms,
  IndexStatus,
  ListFramesRequest,
  ListFramesResponse,
  PartFound,
  SearchPart,
  SearchRequest,
  SearchResponse,
} from '@halogrid/proto';
import type { Looked } from '@halogrid/search';
import type { SourceAccess } from '@halogrid/sources';

/** A picture as a PNG, and the size of what it shows. */
export interface PngPicture {
  png: Uint8Array;
  width: number;
  height: number;
}

/** A node that looks through parts of indexes, by the number of its conversation. */
export interface SearchNode {
  session: number;
  id: string;
  /** The kind of its device. */
  device: string;
}

/** What was found, and who looked for it. */
export interface Searched {
  response: SearchResponse;
  seconds: number;
  looked: Looked[];
  /** Nodes whose part others had to look through, and why, in one sentence each. */
  failed: { node: string; why: string }[];
}

/** What the process of retrieval is asked, and what it answers. Folders are paths that it may read, whatever else it may. */
export interface Orders {
  indexes: { order: readonly { name: string; folder: string }[]; answer: IndexStatus[] };
  frames: { order: { folder: string; request: ListFramesRequest }; answer: ListFramesResponse };
  search: { order: { folder: string; request: SearchRequest; nodes: readonly SearchNode[] }; answer: Searched };
  changes: { order: { folder: string; request: ChangesRequest }; answer: ChangesResponse };
  /** Sums of cells over all sources; `name` is that of a pipeline, where there are several. */
  cells: { order: { folder: string; name?: string }; answer: FrameHistograms };
  /** `count` histograms of a features.parquet, from row `first` on. */
  histograms: { order: { features: string; first: number; count: number }; answer: number[][] };
  /** `side`: pixels at most. */
  picture: { order: { ticket: string; of: 'frame' | 'map'; side: number }; answer: PngPicture };
  /** Whether parts of the image can be shown. */
  readsParts: { order: { uri: string }; answer: boolean };
  /** A part of an image, or all of a frame, of a URI that the process may read. */
  region: { order: { uri: string; videoFrame?: number; region?: Rect; side: number }; answer: PngPicture };
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
export type RetrievalAnswer =
  | { id: number; answer: Orders[OrderKind]['answer'] }
  | { id: number; sentence: string; kind?: RefusalKind; field?: string };

/** A question of the process to its coordinator: what has that node found? */
export interface PartQuestion {
  part: number;
  session: number;
  order: Omit<SearchPart, 'search'>;
}

export type PartReply = { part: number } & ({ found: PartFound } | { why: string });

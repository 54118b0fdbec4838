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
import type { ShownSource } from '@halogrid/results/thumbnails';
import type { Looked } from '@halogrid/search';
import type { SourceAccess } from '@halogrid/sources';

/** A picture as a PNG, and the size in pixels of the image or region that it shows. */
export interface PngPicture {
  png: Uint8Array;
  width: number;
  height: number;
}

/** A node that can look through parts of indexes. */
export interface SearchNode {
  /** Number of the node's conversation with the coordinator. */
  session: number;
  id: string;
  /** The kind of its device. */
  device: string;
}

/** The answer to a search, and which nodes looked through which parts. */
export interface Searched {
  response: SearchResponse;
  seconds: number;
  looked: Looked[];
  /** Nodes that failed, so that others had to look through their part; each with one sentence why. */
  failed: { node: string; why: string }[];
}

/**
 * The orders of the process of retrieval, and its answers. Callers check first that the process may read the folders.
 */
export interface Orders {
  indexes: { order: readonly { name: string; folder: string }[]; answer: IndexStatus[] };
  frames: { order: { folder: string; request: ListFramesRequest }; answer: ListFramesResponse };
  search: { order: { folder: string; request: SearchRequest; nodes: readonly SearchNode[] }; answer: Searched };
  /** `place`: the path or s3: URI of an output, here and below. */
  changes: { order: { place: string; request: ChangesRequest }; answer: ChangesResponse };
  /** Sums of cells over all sources. `name` is the name of a pipeline if the job has several. */
  cells: { order: { place: string; name?: string }; answer: FrameHistograms };
  /** `count` histograms of the features.parquet at a path or s3: URI, from row `first` on. */
  histograms: { order: { features: string; first: number; count: number }; answer: number[][] };
  /** A picture of a frame or of its map, with at most `side` pixels in width and height. */
  picture: { order: { ticket: string; of: 'frame' | 'map'; side: number }; answer: PngPicture };
  /** Whether regions of the image can be shown. */
  readsParts: { order: Omit<ShownSource, 'videoFrame'>; answer: boolean };
  /**
   * A region of an image (absent: all of it) at the level that is read, or a whole frame of a video; at most `side`
   * pixels in width and height.
   */
  region: { order: ShownSource & { region?: Rect; side: number }; answer: PngPicture };
}

export type OrderKind = keyof Orders;

/** The first message to the process. */
export interface Setup {
  access: SourceAccess;
  /** Signs the tickets. */
  secret: Uint8Array;
  /** An empty folder that only the process uses, and removes at its end. */
  folder: string;
}

export type Order = { [Kind in OrderKind]: { id: number; kind: Kind; order: Orders[Kind]['order'] } }[OrderKind];

/** An answer, or the sentence of an error. An error without a kind is not the caller's fault. */
export type RetrievalAnswer =
  | { id: number; answer: Orders[OrderKind]['answer'] }
  | { id: number; sentence: string; kind?: RefusalKind; field?: string };

/** The process asks its coordinator to have a node look through a part of an index. */
export interface PartQuestion {
  part: number;
  session: number;
  order: Omit<SearchPart, 'search'>;
}

export type PartReply = { part: number } & ({ found: PartFound } | { why: string });

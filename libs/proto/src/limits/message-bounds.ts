// How long every text, and how many the entries of every list, of what a coordinator and a node receive may be.
// Whatever a message holds is kept, logged, shown and sent on to others, so that without these one peer could fill the
// memory of all.
import { maxCountsBytes } from '../answers/split-answer.ts';
import type {
  CaptureOptions,
  Grid,
  JobSpec,
  NamedPipeline,
  Operation,
  Pipeline,
  PipelineSet,
  StageSpan,
  VideoOptions,
} from '../gen/halogrid/v1/job.ts';
import type { CancelRequest, GetRequest, ListRequest, TraceRequest, WatchRequest } from '../gen/halogrid/v1/jobs.ts';
import type {
  AnswerPart,
  AttachRequest,
  AttachResponse,
  Bring,
  Brought,
  DeviceInfo,
  FilePlace,
  FoundInPart,
  FoundSums,
  FrameBatch,
  GpuCard,
  HeldLease,
  Hello,
  Kept,
  Lack,
  Lease,
  MendedKind,
  MendedSources,
  PartFound,
  PartHit,
  PartRanking,
  Probe,
  ProbedFile,
  QueryVector,
  Recall,
  SearchPart,
  SeenFile,
  ShardCompleted,
  ShardFailed,
  ShardInPart,
  ShardPlace,
  ShardReturned,
  ShardTimeline,
  Sight,
  SourceError,
  SourceResult,
  Tile,
  VideoSegment,
  Welcome,
} from '../gen/halogrid/v1/nodes.ts';
import type { ChangesRequest, FrameName, ListFramesRequest, SearchRequest } from '../gen/halogrid/v1/search.ts';
import {
  maxImageBytes,
  maxPartCounts,
  maxPartHits,
  maxPartQueries,
  maxPipelines,
  maxUriLength,
} from '../job-limits.ts';
import {
  bytes,
  type Excess,
  elsewhere,
  type FieldBound,
  fields,
  list,
  map,
  name,
  oneMessageOf,
  text,
} from './bounds.ts';

/** Ids and names go into every log line. */
const maxNameLength = 200;
/** What a driver says of itself. */
const maxDescriptionLength = 1_000;
/**
 * A word of the program's own, such as a kernel, a stage or a border; which there are is checked where they are used.
 */
const word = name(100);
const id = name(maxNameLength);
/** A path below an output folder, or of a file in a listed folder, is longer than the URI that a job names. */
const place = text(2 * maxUriLength);
/** A matrix of 31 x 31 numbers of full length as JSON. */
const maxParameterLength = 32_768;
/** A sentence of a node, which is cut rather than refused: see `cutSentence`. */
export const maxSentenceLength = 1_000;
/** A lease has a source a frame, of a segment of a video or a batch. */
const maxLeaseSources = 65_536;
/** The block of sources of a lease, which tells each URI by what it does not share with the one before. */
export const maxSourceBlockBytes = 2 ** 23;
/** A node is asked for a few files of a folder. */
const maxProbedFiles = 16;
/** SHA-256. */
const digestBytes = 32;
/** The UUID of a part. */
const partId = name(36);
/** Digits of a sum below 2^63, and of 65,536 sums of three channels the bytes. */
const maxSumDigits = 19;
const maxSumsBytes = 2 ** 21;
/** A node holds 64 leases at most. */
const maxHeld = 4_096;

const any = elsewhere;
const grid = fields<Grid>({});

const pipeline = fields<Pipeline>({
  operations: list(
    100,
    fields<Operation>({ kernel: word, parameters: map(100, word, text(maxParameterLength)), border: word }),
  ),
});

/** As `pipeline`: as many operations, each with parameters as long. */
const op = list(100, text(100 * maxParameterLength));

const pipelines = fields<PipelineSet>({
  named: list(maxPipelines, fields<NamedPipeline>({ name: word, pipeline, op })),
});

const video = fields<VideoOptions>({ hwaccel: word });

/** What it may be is for `checkSpec`, which has a sentence for it. */
const captured = fields<CaptureOptions>({ from: text(maxDescriptionLength), zone: word });

/** A specification. Its URIs and how many there are of them are for `checkSpec`, as are the rules of kernels. */
const spec = fields<JobSpec>({
  sources: elsewhere,
  out: elsewhere,
  mapFormat: word,
  pipeline,
  pipelines,
  op,
  grid,
  video,
  maxQuarantined: any,
  captured,
});

export const specBounds: FieldBound<JobSpec> = spec;
/** Bounds of Get, Watch, Cancel and Trace. */
export const jobIdBounds: FieldBound<GetRequest | WatchRequest | CancelRequest | TraceRequest> = fields<GetRequest>({
  jobId: id,
});

/** There are six states. */
export const listBounds = fields<ListRequest>({ states: list(16) });

/** Which of the numbers there can be is for `checkSearch`, which has sentences for them. */
export const searchBounds = fields<SearchRequest>({
  index: text(maxUriLength),
  query: oneMessageOf<NonNullable<SearchRequest['query']>>({
    row: any,
    frame: fields<FrameName>({ uri: text(maxUriLength) }),
    image: bytes(maxImageBytes),
  }),
  region: any,
  distance: word,
  camera: id,
});
export const listFramesBounds = fields<ListFramesRequest>({ index: text(maxUriLength) });
export const changesBounds = fields<ChangesRequest>({ jobId: id, out: text(maxUriLength), camera: id, pipeline: word });

const held = list(maxHeld, fields<HeldLease>({ jobId: id }));

const hello = fields<Hello>({
  nodeId: name(maxNameLength, 1),
  name: name(maxNameLength, 1),
  softwareVersion: name(maxNameLength),
  device: fields<DeviceInfo>({
    kind: word,
    name: name(maxDescriptionLength),
    driver: name(maxDescriptionLength),
    gpu: fields<GpuCard>({ uuid: id, pciBusId: id }),
  }),
  held,
  timeZoneData: word,
  lacks: list(16, fields<Lack>({ need: place, reason: any })),
});

/** How many bins a result has is for the ledger to check, which knows the job. */
const result = fields<SourceResult>({ bins: any, rect: any, captured: any });

const filePlace = fields<FilePlace>({});

const foundInPart = fields<FoundInPart>({
  digest: bytes(digestBytes),
  parts: list(maxPipelines, fields<FoundSums>({ counted: name(maxSumDigits), sums: bytes(maxSumsBytes) })),
  part: partId,
  places: list(maxPipelines, fields<ShardPlace>({ sources: filePlace, features: filePlace })),
});

const completed = fields<ShardCompleted>({
  jobId: id,
  results: list(maxLeaseSources, result),
  errors: list(maxLeaseSources, fields<SourceError>({ stage: word, error: any, cause: any })),
  stageSeconds: map(32, word),
  busySeconds: map(32, word),
  counts: bytes(maxCountsBytes),
  found: foundInPart,
  timeline: fields<ShardTimeline>({ spans: list(16, fields<StageSpan>({ stage: word })) }),
  mended: fields<MendedSources>({ kinds: list(16, fields<MendedKind>({ mended: any })) }),
});

/** What a node reports; sentences are cut elsewhere. */
export const reportBounds = fields<AttachRequest>({
  report: oneMessageOf<NonNullable<AttachRequest['report']>>({
    hello,
    heartbeat: any,
    completed,
    inPart: fields<ShardInPart>({ jobId: id }),
    failed: fields<ShardFailed>({ jobId: id, error: any, need: place }),
    draining: any,
    credit: any,
    brought: fields<Brought>({ jobId: id, held }),
    load: any,
    returned: fields<ShardReturned>({ jobId: id }),
    part: fields<AnswerPart>({ jobId: id, counts: bytes(maxCountsBytes) }),
    sight: fields<Sight>({
      files: list(
        maxProbedFiles,
        fields<SeenFile>({ version: place, sha256: bytes(digestBytes), error: any, cause: any }),
      ),
      error: any,
    }),
    found: fields<PartFound>({
      version: word,
      rankings: list(
        maxPartQueries,
        fields<PartRanking>({ hits: list(maxPartHits, fields<PartHit>({ exact: word })) }),
      ),
      error: any,
    }),
  }),
});

const lease = fields<Lease>({
  jobId: id,
  pipeline,
  pipelines,
  traceparent: word,
  work: oneMessageOf<NonNullable<Lease['work']>>({
    tile: fields<Tile>({ rect: any }),
    frames: fields<FrameBatch>({
      segment: fields<VideoSegment>({ version: place, hwaccel: word }),
    }),
  }),
  scratch: place,
  grid,
  captured,
  handOver: text(maxDescriptionLength),
  sources: bytes(maxSourceBlockBytes),
});

/** What a coordinator orders, but for leases. */
export const orderBounds = fields<AttachResponse>({
  order: oneMessageOf<NonNullable<AttachResponse['order']>>({
    welcome: fields<Welcome>({ kept: held }),
    acknowledge: any,
    // A lease that is too much is no reason to leave: it alone is refused.
    lease: any,
    recall: fields<Recall>({ jobId: id, shards: list(maxLeaseSources) }),
    drain: any,
    creditTaken: any,
    bring: fields<Bring>({ jobId: id }),
    kept: fields<Kept>({ jobId: id, kept: held }),
    probe: fields<Probe>({ files: list(maxProbedFiles, fields<ProbedFile>({ uri: place })), write: place }),
    search: fields<SearchPart>({
      index: place,
      version: word,
      queries: list(maxPartQueries, fields<QueryVector>({ counts: list(maxPartCounts) })),
      distance: word,
      camera: id,
    }),
  }),
});

export const leaseBounds: FieldBound<Lease> = lease;

/** What of a message is beyond its bounds; undefined: nothing. */
export function excessOf<Message>(message: Message, bounds: FieldBound<Message>): Excess | undefined {
  return bounds(message, '');
}

// How long each text and list may be in the messages that a coordinator and a node receive. Contents of messages are
// kept, logged, shown and sent on: without bounds, one peer could fill the memory of all others.
import { maxCountsBytes } from '../answers/split-answer.ts';
import type {
  BandOptions,
  CaptureOptions,
  Grid,
  JobSpec,
  NamedPipeline,
  Operation,
  Pipeline,
  PipelineSet,
  Share,
  SourceFilter,
  StageSpan,
  VideoOptions,
} from '../gen/halogrid/v1/job.ts';
import type {
  CancelRequest,
  GetRequest,
  ListRequest,
  PauseRequest,
  RemoveRequest,
  ResumeRequest,
  TraceRequest,
  WatchRequest,
} from '../gen/halogrid/v1/jobs.ts';
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
import { maxBands } from '../sample-options.ts';
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
/** How a driver describes itself. */
const maxDescriptionLength = 1_000;
/**
 * A word from a fixed list, such as a kernel, a stage or a border. The code that uses it checks that it is in the list.
 */
const word = name(100);
const id = name(maxNameLength);
/** A path below an output folder, or of a file in a listed folder. It may be longer than the URI in the job. */
const place = text(2 * maxUriLength);
/** A matrix of 31 x 31 numbers of full length as JSON. */
const maxParameterLength = 32_768;
/** A sentence from a node. A longer one is cut, not refused: see `cutSentence`. */
export const maxSentenceLength = 1_000;
/** A lease has one source for each frame of a video segment or a batch. */
const maxLeaseSources = 65_536;
/**
 * The block of sources of a lease. It is compact: each URI is stored without the beginning that it shares with the one
 * before.
 */
export const maxSourceBlockBytes = 2 ** 23;
/** A Probe asks for a few files of a folder. */
const maxProbedFiles = 16;
/** SHA-256. */
const digestBytes = 32;
/** The UUID of a part. */
const partId = name(36);
/** Digits of a sum below 2^63; bytes of 65,536 sums in three channels. */
const maxSumDigits = 19;
const maxSumsBytes = 2 ** 21;
/** More leases than a node holds: at most 512 of each coordinator, and 256 in parts. */
const maxHeld = 4_096;

const any = elsewhere;
const grid = fields<Grid>({});

const pipeline = fields<Pipeline>({
  operations: list(
    100,
    fields<Operation>({ kernel: word, parameters: map(100, word, text(maxParameterLength)), border: word }),
  ),
});

/** The same limits as `pipeline`: 100 operations with 100 parameters each. */
const op = list(100, text(100 * maxParameterLength));

const pipelines = fields<PipelineSet>({
  named: list(maxPipelines, fields<NamedPipeline>({ name: word, pipeline, op })),
});

const video = fields<VideoOptions>({ hwaccel: word });

/** `checkSpec` checks the values, with a better sentence. */
const captured = fields<CaptureOptions>({ from: text(maxDescriptionLength), zone: word });

/** `checkFilter` checks the globs, with better sentences. */
const globs = list(100, text(maxUriLength));
const filter = fields<SourceFilter>({ include: globs, exclude: globs });

const band = fields<BandOptions>({ numbers: list(maxBands) });

/** A specification. `checkSpec` checks its URIs, their number and the rules of kernels. */
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
  filter,
  column: elsewhere,
  nodata: word,
  mask: elsewhere,
  level: word,
  band,
  scale: any,
  share: fields<Share>({ plan: elsewhere }),
});

export const specBounds: FieldBound<JobSpec> = spec;
/** Bounds of each request that names a job, and nothing else. */
export const jobIdBounds: FieldBound<
  GetRequest | WatchRequest | CancelRequest | PauseRequest | RemoveRequest | ResumeRequest | TraceRequest
> = fields<GetRequest>({ jobId: id });

/** There are six states. */
export const listBounds = fields<ListRequest>({ states: list(16), owner: id });

/** `checkSearch` checks the numbers, with better sentences. */
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
  metricsUrl: name(maxDescriptionLength),
  lacks: list(16, fields<Lack>({ need: place, reason: any })),
});

/** The ledger checks how many bins a result has, because it knows the job. */
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

/** Bounds of a node's reports. Sentences are cut elsewhere. */
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
  nodata: word,
  level: word,
  band,
  scale: any,
  handOver: text(maxDescriptionLength),
  sources: bytes(maxSourceBlockBytes),
});

/** Bounds of a coordinator's orders, except leases. */
export const orderBounds = fields<AttachResponse>({
  order: oneMessageOf<NonNullable<AttachResponse['order']>>({
    welcome: fields<Welcome>({ kept: held }),
    acknowledge: any,
    // A node refuses only a lease that is too large, and keeps its conversation.
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

/** The first value in a message that is beyond its bounds; undefined if all are within them. */
export function excessOf<Message>(message: Message, bounds: FieldBound<Message>): Excess | undefined {
  return bounds(message, '');
}

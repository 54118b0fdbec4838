import { refuseValue } from '@halogrid/jobs/refusal';
import { shortened } from '@halogrid/kernels';
import {
  type AttachRequest,
  type CancelRequest,
  type ChangesRequest,
  changesBounds,
  excessOf,
  type FieldBound,
  type GetRequest,
  jobIdBounds,
  type ListFramesRequest,
  type ListRequest,
  listBounds,
  listFramesBounds,
  maxSentenceLength,
  reportBounds,
  type SearchRequest,
  type SubmitRequest,
  searchBounds,
  specBounds,
  type TraceRequest,
  type WatchRequest,
} from '@halogrid/proto';
import { named, sentence } from '@halogrid/proto/sentence';

/** Throws Refusal for a text that is too long in what somebody submits, or a list that is. */
export function checkSubmitBounds(request: SubmitRequest): SubmitRequest {
  if (request.spec) within(request.spec, specBounds);
  return request;
}

/** As `checkSubmitBounds`, for what names a job. */
export const checkJobIdBounds = <R extends GetRequest | WatchRequest | CancelRequest | TraceRequest>(request: R): R =>
  within(request, jobIdBounds);

/** As `checkSubmitBounds`, for what lists jobs. */
export const checkListBounds = (request: ListRequest): ListRequest => within(request, listBounds);

/** As `checkSubmitBounds`, for what is looked for. */
export const checkSearchBounds = (request: SearchRequest): SearchRequest => within(request, searchBounds);
export const checkListFramesBounds = (request: ListFramesRequest): ListFramesRequest =>
  within(request, listFramesBounds);
export const checkChangesBounds = (request: ChangesRequest): ChangesRequest => within(request, changesBounds);

/** As `checkSubmitBounds`, for what a node reports. Its sentences are cut: the rest of an answer may be good. */
export function checkReportBounds(request: AttachRequest): AttachRequest {
  const { report } = within(request, reportBounds);
  switch (report?.$case) {
    case 'completed': {
      const errors = report.value.errors.map((error) => ({ ...error, error: cutSentence(error.error) }));
      const kinds = report.value.mended?.kinds.map((kind) => ({ ...kind, mended: cutSentence(kind.mended) }));
      return { report: { ...report, value: { ...report.value, errors, ...(kinds && { mended: { kinds } }) } } };
    }
    case 'hello': {
      const lacks = report.value.lacks.map((lack) => ({ ...lack, reason: cutSentence(lack.reason) }));
      return { report: { ...report, value: { ...report.value, lacks } } };
    }
    case 'sight': {
      const files = report.value.files.map((file) => ({ ...file, error: cutSentence(file.error) }));
      return { report: { ...report, value: { ...report.value, files, error: cutSentence(report.value.error) } } };
    }
    case 'found':
      return { report: { ...report, value: { ...report.value, error: cutSentence(report.value.error) } } };
    case 'failed':
      return { report: { ...report, value: { ...report.value, error: cutSentence(report.value.error) } } };
    default:
      return request;
  }
}

/** On one line, and not too long for one. */
function cutSentence(sentence: string): string {
  return shortened(sentence.slice(0, 2 * maxSentenceLength).replaceAll(/\s+/g, ' '), maxSentenceLength);
}

function within<Message>(message: Message, bounds: FieldBound<Message>): Message {
  const excess = excessOf(message, bounds);
  if (excess) {
    // Words about a field end with it.
    const { what, field, value, allowed } = excess;
    refuseValue(sentence`${what.slice(0, -field.length)}${named(shortened(field))}`, value, allowed);
  }
  return message;
}

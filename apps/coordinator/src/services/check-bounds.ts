import { refuseValue } from '@halogrid/jobs/refusal';
import { shortened } from '@halogrid/kernels';
import {
  type AttachRequest,
  type ChangesRequest,
  changesBounds,
  excessOf,
  type FieldBound,
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
} from '@halogrid/proto';
import { named, sentence } from '@halogrid/proto/sentence';

/** Throws Refusal if a text or a list in the request is too long. Returns the request. */
export function checkSubmitBounds(request: SubmitRequest): SubmitRequest {
  if (request.spec) within(request.spec, specBounds);
  return request;
}

/** As `checkSubmitBounds`, for requests that name a job. */
export const checkJobIdBounds = <R extends { jobId: string }>(request: R): R => within(request, jobIdBounds);

/** As `checkSubmitBounds`, for lists of jobs. */
export const checkListBounds = (request: ListRequest): ListRequest => within(request, listBounds);

/** As `checkSubmitBounds`, for searches. */
export const checkSearchBounds = (request: SearchRequest): SearchRequest => within(request, searchBounds);
export const checkListFramesBounds = (request: ListFramesRequest): ListFramesRequest =>
  within(request, listFramesBounds);
export const checkChangesBounds = (request: ChangesRequest): ChangesRequest => within(request, changesBounds);

/**
 * As `checkSubmitBounds`, for reports of nodes. Sentences that are too long are only cut: the rest of an answer may be
 * good.
 */
export function checkReportBounds(request: AttachRequest): AttachRequest {
  const { report } = within(request, reportBounds);
  switch (report?.$case) {
    case 'completed': {
      const errors = report.value.errors.map((error) => ({ ...error, error: cutSentence(error.error) }));
      const kinds = report.value.mended?.kinds.map((kind) => ({ ...kind, mended: cutSentence(kind.mended) }));
      return { report: { ...report, value: { ...report.value, errors, mended: kinds && { kinds } } } };
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

/** The sentence on one line, with at most `maxSentenceLength` characters. */
function cutSentence(sentence: string): string {
  return shortened(sentence.slice(0, 2 * maxSentenceLength).replaceAll(/\s+/g, ' '), maxSentenceLength);
}

function within<Message>(message: Message, bounds: FieldBound<Message>): Message {
  const excess = excessOf(message, bounds);
  if (excess) {
    // `what` ends with the name of the field.
    const { what, field, value, allowed } = excess;
    refuseValue(sentence`${what.slice(0, -field.length)}${named(shortened(field))}`, value, allowed);
  }
  return message;
}

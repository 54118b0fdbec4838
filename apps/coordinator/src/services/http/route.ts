import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AskingCaller } from '../audit.ts';

type Codecs = typeof import('@halogrid/proto');

/** A message of the .proto files. */
export type MessageName = {
  [Name in keyof Codecs]: Codecs[Name] extends { decode(...given: never[]): object; fromPartial: unknown }
    ? Name
    : never;
}[keyof Codecs];
export type MessageOf<Name> = Name extends keyof Codecs
  ? Codecs[Name] extends { decode(...given: never[]): infer Message }
    ? Message
    : never
  : undefined;

/** A request of a route, read and allowed. */
export interface RouteCall<Query, Body> {
  /** The part of the path at `{name}`, decoded; for `{name...}`, the rest of the path as it stands. */
  path: Readonly<Record<string, string>>;
  query: Query;
  body: Body;
  caller: AskingCaller;
  /** Aborts when the caller is gone before its answer has ended. */
  gone: AbortSignal;
  request: IncomingMessage;
}

interface Described {
  method: 'GET' | 'POST';
  /** The name of the operation in the description of the API. */
  name: string;
  /** Below /api/v1. */
  path: string;
  /** One line for the description of the API. */
  summary: string;
  role: 'read' | 'submit';
}

/** An answer that is not a message: its media type, and a line for the description of the API. */
export interface OtherAnswer {
  type: string;
  words: string;
}

/**
 * A path of the API: what it takes, and what it answers. Routes are a table in TypeScript and not options of the .proto
 * files, because half of them are not calls of gRPC.
 */
export interface Route extends Described {
  /** The message that its query is read as; undefined: the query is ignored. */
  query?: MessageName | undefined;
  /** The message that its JSON body is read as, or the file of an image. */
  body?: MessageName | 'image' | undefined;
  answer: MessageName | OtherAnswer;
  /** Resolves with the answer, as `answer` describes it. */
  respond?: (call: RouteCall<never, never>) => Promise<object>;
  /** Writes the answer by itself; a rejection before that is answered as usual. */
  send?: (call: RouteCall<never, never>, response: ServerResponse) => Promise<void>;
}

type Body<Name> = Name extends 'image' ? Buffer : MessageOf<Name>;

/** A route that answers with a message, as JSON. */
export const route = <
  Answer extends MessageName,
  Query extends MessageName | undefined = undefined,
  Given extends MessageName | 'image' | undefined = undefined,
>(
  description: Described & { query?: Query; body?: Given; answer: Answer },
  respond: (call: RouteCall<MessageOf<Query>, Body<Given>>) => Promise<MessageOf<Answer>>,
): Route => ({ ...description, respond }) as Route;

/** A route that answers with something else. */
export const otherRoute = <Query extends MessageName | undefined = undefined>(
  description: Described & { query?: Query; answer: OtherAnswer },
  send: (call: RouteCall<MessageOf<Query>, undefined>, response: ServerResponse) => Promise<void>,
): Route => ({ ...description, send }) as Route;

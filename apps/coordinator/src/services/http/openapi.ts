import { commentOf, fieldSchema, jsonSchema, messageOf, type Schema, type SchemaOptions } from '@halogrid/proto/json';
import { softwareVersion } from '@halogrid/service';
import type { Route } from './route.ts';

/** Fields that every request must have, by message. */
const needed = { JobSpec: ['sources'] };

/** The routes as OpenAPI 3.1 describes them: messages and comments come from the .proto files. */
export function describeApi(routes: readonly Route[]): object {
  const schemas = new Schemas();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace('...}', '}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'halogrid',
      version: softwareVersion,
      description: 'The HTTP API of a halogrid coordinator.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/api/v1' }],
    security: [{}, { token: [] }],
    paths,
    components: {
      schemas: schemas.all(),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'Needed if the coordinator has --tokens.' },
      },
    },
  };
}

function operationOf(route: Route, schemas: Schemas): object {
  const { method, name, path, summary, query, body, answer, role } = route;
  const refusal = {
    description: 'Why the request is refused',
    content: { 'application/json': { schema: schemas.refer('ErrorAnswer', false) } },
  };
  const isNamed = method === 'GET' && (typeof answer === 'string' || answer.type === 'application/octet-stream');
  const parameters = [
    ...[...path.matchAll(/\{(\w+)/g)].map(([, name]) => pathParameter(name!)),
    ...(query ? queryParameters(query, schemas) : []),
  ];
  return {
    operationId: name,
    summary,
    description: `Needs the role \`${role}\` if the coordinator has --tokens.`,
    ...(parameters.length > 0 && { parameters }),
    ...(method === 'POST' && { requestBody: { required: true, content: bodyContent(body, schemas) } }),
    responses: {
      '200': {
        description: typeof answer === 'string' ? summary : answer.words,
        content:
          typeof answer === 'string'
            ? { 'application/json': { schema: schemas.refer(answer, false) } }
            : { [answer.type]: { schema: otherSchema(answer.type) } },
      },
      ...(isNamed && { '304': { description: 'The caller has it: If-None-Match names its ETag' } }),
      '4XX': refusal,
      '5XX': refusal,
    },
  };
}

const pathWords: Record<string, string> = {
  id: 'The id of a job or, of four characters at least, a beginning or an ending that no other id has.',
  name: 'The name of a file as `/jobs/{id}/results` lists it.',
  ticket: 'What names the frame in the path of its picture.',
};

function pathParameter(name: string): object {
  return { name, in: 'path', required: true, description: pathWords[name], schema: { type: 'string' } };
}

function queryParameters(query: string, schemas: Schemas): object[] {
  return messageOf(query).fields.map((field) => {
    const { description: _, ...schema } = fieldSchema(field, schemas.options(true));
    return { name: field.name, in: 'query', description: commentOf(field), schema };
  });
}

/** A route without a body message still takes a JSON body: no page of another site may send that type. */
function bodyContent(body: string | undefined, schemas: Schemas): object {
  if (body === undefined) return { 'application/json': { schema: { type: 'object', maxProperties: 0 } } };
  if (body === 'image') return { 'application/octet-stream': { schema: otherSchema('image') } };
  return { 'application/json': { schema: schemas.refer(body, true) } };
}

function otherSchema(type: string): Schema {
  if (type === 'application/json') return { type: 'object' };
  return type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
}

/**
 * The schemas of all messages that routes name, and of the messages in these. A request may leave out fields that an
 * answer always has, so it has a schema of its own.
 */
class Schemas {
  readonly #made = new Map<string, Schema>();

  refer(name: string, isAsked: boolean): Schema {
    const schema = isAsked ? `${name}Input` : name;
    if (!this.#made.has(schema)) {
      this.#made.set(schema, {});
      this.#made.set(schema, jsonSchema(messageOf(name), this.options(isAsked)));
    }
    return { $ref: `#/components/schemas/${schema}` };
  }

  options(isAsked: boolean): SchemaOptions {
    return { isAsked, needed, refer: ({ name }) => this.refer(name, isAsked).$ref as string };
  }

  all(): Record<string, Schema> {
    return Object.fromEntries([...this.#made].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

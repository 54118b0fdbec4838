// Reads and writes messages of the .proto files as JSON, for the coordinator's HTTP API. Unlike the usual readers of
// ProtoJSON, these name the place of an error (`sources[2]`) and refuse texts for numbers.
export { commentOf } from './comments.ts';
export { fieldSchema, jsonSchema, type Schema, type SchemaOptions } from './json-schema.ts';
export { messageOf } from './messages.ts';
export { FieldError, readMessage } from './read-message.ts';
export { readQuery } from './read-query.ts';
export { writeMessage } from './write-message.ts';

// JSON of messages, as the .proto files say: what the coordinator's HTTP API takes and answers. The usual readers of
// ProtoJSON do not name the place of an error (`sources[2]`), and accept texts for numbers.
export { commentOf } from './comments.ts';
export { fieldSchema, jsonSchema, type Schema, type SchemaOptions } from './json-schema.ts';
export { messageOf } from './messages.ts';
export { FieldError, readMessage } from './read-message.ts';
export { readQuery } from './read-query.ts';
export { writeMessage } from './write-message.ts';

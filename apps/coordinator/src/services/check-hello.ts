import { type AttachRequest, type Hello, protocolVersion } from '@halogrid/proto';
import { resultsVersion, softwareVersion } from '@halogrid/service';
import { Refusal } from './refusal.ts';

const deviceKinds = ['gpu', 'software', 'cpu'];
/** Ids and names go into every log line. */
const maxNameLength = 200;

/** The hello that a conversation must begin with. Throws Refusal. */
export function checkHello(report: AttachRequest['report']): Hello {
  if (report?.$case !== 'hello') refuse('the first report', report?.$case ?? 'nothing', 'hello');
  const hello = report.value;
  const { nodeId, name, protocol, device, creditBytes } = hello;
  if (protocol !== protocolVersion) {
    throw new Refusal(
      'unmet',
      `The node speaks protocol ${protocol} (software ${hello.softwareVersion}) but this coordinator ${protocolVersion} (software ${softwareVersion}); run the same version on both`,
    );
  }
  if (hello.resultsVersion !== resultsVersion) {
    throw new Refusal(
      'unmet',
      `The node computes results of version ${hello.resultsVersion || 1} (software ${hello.softwareVersion}) but this coordinator takes ${resultsVersion} (software ${softwareVersion}); run the same version on both`,
    );
  }
  for (const [field, value] of Object.entries({ node_id: nodeId, name })) {
    if (!value || value.length > maxNameLength) refuse(field, value, `1 to ${maxNameLength} characters`);
  }
  if (!device || !deviceKinds.includes(device.kind)) {
    refuse('device.kind', device?.kind ?? '', `one of ${deviceKinds.join(', ')}`);
  }
  for (const [field, value] of Object.entries(device.gpu ?? {})) {
    if (value.length > maxNameLength) refuse(`device.gpu ${field}`, value, `at most ${maxNameLength} characters`);
  }
  if (creditBytes < 1) refuse('credit_bytes', creditBytes, 'at least 1');
  return hello;
}

function refuse(what: string, value: unknown, allowed: string): never {
  throw new Refusal('invalid', `Expected ${allowed} for ${what} but received '${value}'`);
}

import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import { shortened } from '@halogrid/kernels';
import { type AttachRequest, commonProtocol, type Hello, protocols, protocolsInWords } from '@halogrid/proto';
import { resultsVersion, softwareVersion } from '@halogrid/service';
import { checkReportBounds } from './check-bounds.ts';

const deviceKinds = ['gpu', 'software', 'cpu'];

/**
 * The hello that a conversation must begin with, and the protocol of the conversation. Throws Refusal for another
 * report, or a node that does not fit this version.
 */
export function checkHello(report: AttachRequest['report']): { hello: Hello; spoken: number } {
  if (report?.$case !== 'hello') refuseValue('the first report', report?.$case ?? 'nothing', 'hello');
  const hello = report.value;
  const { protocol: newest, oldestProtocol: oldest, device, softwareVersion: theirs } = hello;
  const spoken = commonProtocol({ newest, oldest });
  if (spoken === undefined) {
    const its = protocolsInWords({ newest, oldest: oldest || newest });
    throw new Refusal(
      'unmet',
      `The node speaks protocol ${its} (software ${shortened(theirs, 50)}) but this coordinator ${protocolsInWords(protocols)} (software ${softwareVersion}); run the same version on both, or versions that follow each other`,
    );
  }
  if (hello.resultsVersion !== resultsVersion) {
    throw new Refusal(
      'unmet',
      `The node computes results of version ${hello.resultsVersion || 1} (software ${shortened(theirs, 50)}) but this coordinator takes ${resultsVersion} (software ${softwareVersion}); run the same version on both`,
    );
  }
  const bounded = checkReportBounds({ report }).report as typeof report;
  if (!device || !deviceKinds.includes(device.kind)) {
    refuseValue('device.kind', device?.kind ?? '', `one of ${deviceKinds.join(', ')}`);
  }
  return { hello: bounded.value, spoken };
}

import type { ClientSecurityOptions } from '@halogrid/service';
import type { Command } from 'commander';

/** What the options of `addClientSecurityOptions` parse to. */
export type ClientSecurityOption = ClientSecurityOptions;

/** The options that say how a command shows a coordinator who it is. A token itself is no option: others see these. */
export function addClientSecurityOptions(command: Command): Command {
  return command
    .option('--token-file <file>', 'file with the token (or HALOGRID_TOKEN_FILE, HALOGRID_TOKEN in the environment)')
    .option('--tls-ca <file>', 'TLS, with a coordinator whose certificate this authority signed (PEM)')
    .option('--tls-cert <file>', 'certificate for coordinators that ask for one (PEM)')
    .option('--tls-key <file>', 'its key (PEM)');
}

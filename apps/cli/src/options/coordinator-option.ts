import { type ClientSecurityOptions, createClientSecurity } from '@halogrid/service';
import { type Command, Option } from 'commander';
import { type CoordinatorClient, connectCoordinator } from '../client/coordinator-client.ts';
import type { LeaderPatience } from '../client/find-leader.ts';
import type { CoordinatorFile } from '../client/wait-for-coordinator.ts';

export interface CoordinatorOption extends ClientSecurityOption, CoordinatorFileOption {
  coordinator: string;
}

/** What the option of `coordinatorFileOption` parses to. */
export interface CoordinatorFileOption {
  coordinatorFile?: string;
}

/** The help text of the argument that names a job. */
export const jobArgument = 'its id, or a unique beginning or end of it';

/** Adds the option for the coordinator that a command talks to. */
export function addCoordinatorOption(command: Command): Command {
  const words = 'the coordinator; with several, the first leader that answers';
  return addClientSecurityOptions(
    command.option('--coordinator <host:port,…>', words, '127.0.0.1:7070').addOption(coordinatorFileOption()),
  );
}

/** The option for a coordinator whose address is not known before it runs. */
export const coordinatorFileOption = (): Option =>
  new Option('--coordinator-file <file>', 'wait for the coordinator that writes this file').conflicts('coordinator');

/** Where the coordinator is. A command that waits for it says so on stderr, unless it is quiet. */
export function coordinatorOf(
  { coordinator = '', coordinatorFile, quiet }: CoordinatorFileOption & { coordinator?: string; quiet?: boolean },
  signal?: AbortSignal,
): string | CoordinatorFile {
  if (coordinatorFile === undefined) return coordinator;
  return { file: coordinatorFile, signal, note: (sentence) => quiet || console.error(sentence) };
}

/** Calls `use` with a client of the coordinator, and closes the client afterwards. */
export async function withCoordinator<T>(
  options: CoordinatorOption,
  use: (client: CoordinatorClient) => Promise<T>,
  patience?: LeaderPatience,
): Promise<T> {
  const client = connectCoordinator(coordinatorOf(options), createClientSecurity(options, process.env), patience);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/** What the options of `addClientSecurityOptions` parse to. */
export type ClientSecurityOption = ClientSecurityOptions;

/**
 * Adds the options with which a command identifies itself to a coordinator. The token itself is not an option, because
 * other users can read command lines.
 */
export function addClientSecurityOptions(command: Command): Command {
  return command
    .option('--token-file <file>', 'file with the token (or HALOGRID_TOKEN_FILE, HALOGRID_TOKEN in the environment)')
    .option('--tls-ca <file>', 'use TLS, with a coordinator whose certificate this authority signed (PEM)')
    .option('--tls-cert <file>', 'certificate for coordinators that ask for one (PEM)')
    .option('--tls-key <file>', 'its key (PEM)');
}

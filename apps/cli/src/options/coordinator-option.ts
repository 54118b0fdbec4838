import { createClientSecurity } from '@halogrid/service';
import type { Command } from 'commander';
import { type CoordinatorClient, connectCoordinator } from '../client/coordinator-client.ts';
import { addClientSecurityOptions, type ClientSecurityOption } from './security-options.ts';

export interface CoordinatorOption extends ClientSecurityOption {
  coordinator: string;
}

/** The option that says which coordinator a command speaks to. */
export function addCoordinatorOption(command: Command): Command {
  const words = 'the coordinator; of several, the one that leads';
  return addClientSecurityOptions(command.option('--coordinator <host:port,…>', words, '127.0.0.1:7070'));
}

/** Does something with that coordinator and lets go of it. */
export async function withCoordinator<T>(
  options: CoordinatorOption,
  use: (client: CoordinatorClient) => Promise<T>,
): Promise<T> {
  const client = connectCoordinator(options.coordinator, createClientSecurity(options, process.env));
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

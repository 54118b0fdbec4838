import type { Command } from 'commander';
import { type CoordinatorClient, connectCoordinator } from '../client/coordinator-client.ts';

export interface CoordinatorOption {
  coordinator: string;
}

/** The option that says which coordinator a command speaks to. */
export function addCoordinatorOption(command: Command): Command {
  return command.option(
    '--coordinator <host:port,…>',
    'the coordinator; of several, the one that leads',
    '127.0.0.1:7070',
  );
}

/** Does something with that coordinator and lets go of it. */
export async function withCoordinator<T>(
  options: CoordinatorOption,
  use: (client: CoordinatorClient) => Promise<T>,
): Promise<T> {
  const client = connectCoordinator(options.coordinator);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

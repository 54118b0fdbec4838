import { type CoordinatorPlace, grpcAddress, readCoordinatorFile } from '@halogrid/service/coordinator-file';
import type { Connection, Dial } from './dial.ts';

/**
 * Makes a function that dials the coordinator that the file names at that moment, whatever the address. `found` is
 * called before the coordinator is dialled.
 */
export function dialFile(file: string, dial: Dial, found: (place: CoordinatorPlace) => void): Dial {
  return (_address, listener) => {
    let isOver = false;
    const dialled = readCoordinatorFile(file).then((place): Connection | undefined => {
      if (isOver) return undefined;
      if (!place) throw new Error(`no coordinator has written '${file}' (--coordinator-file)`);
      found(place);
      return dial(grpcAddress(place), listener);
    });
    const connected = dialled.catch((error: Error) => {
      if (!isOver) listener.disconnected(error.message, false);
      return undefined;
    });
    // What is sent meanwhile waits in order.
    const then = (act: (connection: Connection) => void): void => {
      void connected.then((connection) => connection && act(connection));
    };
    return {
      send: (report) => then((connection) => connection.send(report)),
      closeStream: () => then((connection) => connection.closeStream()),
      hangUp: () => {
        isOver = true;
        then((connection) => connection.hangUp());
      },
    };
  };
}

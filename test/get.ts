/**
 * Asks on a connection of its own: a server may close one that was kept in the moment in which a busy machine sends a
 * request by it. Rejects where nothing answers.
 */
export const get = (url: string): Promise<Response> => fetch(url, { headers: { connection: 'close' } });

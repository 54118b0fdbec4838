/** Requests that are sent at once. */
export const requestsAtOnce = 16;

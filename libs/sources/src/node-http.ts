/**
 * What is used of `node:http`. An import of it would load also what `fetch` and WebSocket are made of, which takes 25
 * to 35 ms of processor time in each process and thread that looks at sources (measured).
 */
export const { Agent: HttpAgent, request: requestHttp, STATUS_CODES } = process.getBuiltinModule('node:http');

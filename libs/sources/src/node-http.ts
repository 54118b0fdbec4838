/**
 * The parts of `node:http` that are used. An import of it would also load the modules of `fetch` and WebSocket, which
 * takes 25 to 35 ms of a core in each process and thread that looks at sources (measured).
 */
export const { Agent: HttpAgent, request: requestHttp, STATUS_CODES } = process.getBuiltinModule('node:http');

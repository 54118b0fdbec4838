export { cacheFolders } from './cache-folders.ts';
export { dataFolder } from './data-folder.ts';
export { type HttpOptions, type HttpServer, startHttp } from './http.ts';
export { type ListenAddress, parseAddress, parseListenAddress } from './listen-address.ts';
export { createLog, type Log } from './log.ts';
export { Counter, createRegistry, Gauge, Histogram, type Registry, secondsBuckets } from './metrics.ts';
export { aborted, shutdownSignal } from './shutdown.ts';
export { UsageError } from './usage-error.ts';
export { softwareVersion } from './version.ts';

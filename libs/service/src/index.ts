export { cacheFolders } from './cache-folders.ts';
export { dataFolder } from './data-folder.ts';
export { endOnUncaught } from './end-on-uncaught.ts';
export { defaultHttpLimits, type HttpServer, type HttpServerOptions, type Page, startHttp } from './http.ts';
export {
  isLoopback,
  type ListenAddress,
  parseAddress,
  parseAddressList,
  parseListenAddress,
} from './listen-address.ts';
export { listenOn } from './listen-on.ts';
export type { Log } from './log.ts';
export { makeFolders, makeFoldersSync } from './make-folders.ts';
export type { Registry } from './metrics.ts';
export { type Access, type Caller, type Denial, openAccess } from './security/access.ts';
export { type ClientSecurity, type ClientSecurityOptions, createClientSecurity } from './security/client-security.ts';
export { type Credentials, httpCredentials } from './security/credentials.ts';
export { createDataAccess, type DataAccess, type DataAccessOptions, namedFolders } from './security/data-access.ts';
export { exposeCredentialEnds } from './security/expose-credential-ends.ts';
export {
  ConnectionGate,
  type ConnectionLimits,
  defaultConnectionLimits,
  fewFilesSentence,
} from './security/limit-connections.ts';
export { parseOrigins } from './security/other-origins.ts';
export { noRules, type OwnerRules, parseOwners, type RulesOfOwners, rulesOf } from './security/owner-rules.ts';
export { includesRole, type Role, roles } from './security/roles.ts';
export { readSecretFile } from './security/secret-file.ts';
export {
  createAccess,
  createOwnerRules,
  createServerSecurity,
  createTls,
  isProtected,
  type ServerSecurity,
  type ServerSecurityOptions,
  weaknesses,
} from './security/server-security.ts';
export type { Tls, TlsOptions, WatchedTls } from './security/tls-files.ts';
export type { Warn } from './security/watched-files.ts';
export { isDialledWrongly, whyNoConnection } from './security/why-no-connection.ts';
export { aborted, isShuttingDown, shutdownSignal, shutdownSignals } from './shutdown.ts';
export { isSystemError, type SystemError, whyNotServed, whyNotWritten, writing } from './system-errors.ts';
export { UsageError } from './usage-error.ts';
export { areSameResults, otherResultsSentence, resultsVersion, softwareVersion } from './version.ts';

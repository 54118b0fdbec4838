/** The environment of a process that reads files which anybody may have made: without keys and passwords. */
export function readerEnv(): NodeJS.ProcessEnv {
  const isSecret = (name: string) => /^(AWS|PG)|TOKEN|LEDGER|SECRET|PASSWORD/i.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSecret(name)));
}

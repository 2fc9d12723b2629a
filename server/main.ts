// Starts the server (configuration, stores, socket), and stops it in order.

import { createApp } from './app.ts'
import { ConfigError } from './config/setting.ts'
import { type Config, readConfig } from './config.ts'
import {
  type FirstAccountState,
  readFirstAccountState,
  toSetupUrl,
} from './features/accounts/auth/first-account.ts'
import { describeError, log, setLogLevel } from './lib/log.ts'
import { listen } from './listen.ts'
import { openServices, type Services } from './services.ts'

const DRAIN_MS = 25_000

function configure(): Config {
  try {
    return readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(
      `Towpath cannot start:\n${error.problems.map((problem) => `  ${problem}\n`).join('')}`,
    )
    process.exit(1)
  }
}

/** Nothing more is written: another process has the id of this node. */
function endAtOnce(sentence: string) {
  process.stderr.write(`Towpath stops:\n  ${sentence}\n`)
  process.exit(1)
}

async function open(config: Config): Promise<Services> {
  try {
    return await openServices(config, { endAtOnce })
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
    process.stderr.write(
      `Towpath cannot start:\n  ${error instanceof Error ? error.message : error}${cause}\n`,
    )
    process.exit(1)
  }
}

function listenOrEnd(config: Config, services: Services) {
  try {
    return listen(config, createApp(services))
  } catch (error) {
    process.stderr.write(
      `Towpath cannot start:\n  HOST, PORT: ${config.host ?? 'every address'}, port ${config.port} cannot be used ` +
        `(${describeError(error).error}). Stop what uses it, or set another.\n`,
    )
    process.exit(1)
  }
}

/** The last line is the address to open, and nothing else. */
function toReadyText(config: Config, state: FirstAccountState): string {
  const dashboard = `${config.origin}/app`
  switch (state) {
    case 'empty':
      return `Towpath is ready. Make the first account, which owns this installation, at this address:\n${toSetupUrl(config)}\n`
    case 'operatorOnly':
      return `Towpath is ready. Nobody has an account: npm run -s towpath -- user create you@example.com\n${dashboard}\n`
    case 'made':
      return `Towpath is ready. Open the dashboard at this address:\n${dashboard}\n`
  }
}

// The files have password hashes, salts and hits: only this user may read them.
process.umask(0o077)
const config = configure()
setLogLevel(config.logLevel)
const services = await open(config)
const server = listenOrEnd(config, services)

if (config.mailNotice) process.stdout.write(`${config.mailNotice}\n`)
process.stdout.write(toReadyText(config, await readFirstAccountState(services.db.read)))

let stopping = false
async function stop(signal: string) {
  // The second signal stops the process at once.
  if (stopping) process.exit(1)
  stopping = true
  log.info('stopping', { signal })
  services.startDraining()
  const late = setTimeout(() => server.stop(true), DRAIN_MS)
  await server.stop(false)
  clearTimeout(late)
  await services.close()
  log.info('stopped')
  process.exit(0)
}
process.on('SIGTERM', () => void stop('SIGTERM'))
process.on('SIGINT', () => void stop('SIGINT'))

// Runs one server: opens the stores, listens, and stops in order.

import type { Config } from '../config/config.ts'
import {
  type FirstAccountState,
  readFirstAccountState,
  toSetupUrl,
} from '../features/accounts/auth/first-account.ts'
import type { Metric } from '../http/health-and-metrics.ts'
import { describeError, log } from '../lib/log.ts'
import { ListenError, type Listener, listen } from '../web/listen.ts'
import { type App, createApp } from '../web/routes.ts'
import type { WorkerChannel } from '../workers/worker-channel.ts'
import { openServices } from './services.ts'

const DRAIN_MS = 25_000
const LOAD_ROUTES_AFTER_MS = 100

export interface RunningServer {
  node: string
  /** The start message for the operator. The last line is the address to open, and nothing else. */
  readyText: string
  readMetrics(): Metric[]
  /** Finishes what runs: at most DRAIN_MS for requests. */
  stop(): Promise<void>
}

/**
 * @param refuse ends the process with a sentence for the operator
 * @param worker where several servers of one supervisor share the ports
 */
export async function runServer(
  config: Config,
  refuse: (sentence: string) => Promise<never>,
  worker?: WorkerChannel,
): Promise<RunningServer> {
  const services = await openServices(config, { worker, endAtOnce }).catch((error) =>
    refuse(toSentence(error)),
  )
  const app = createApp(services)
  const listener = await listenOrRefuse(config, app, refuse)
  services.watchLoop()
  // A server of another release looks for these files when a page of this one names them. One worker keeps them for all.
  if (config.databaseUrl && (worker?.number ?? 1) === 1)
    void app.prepareFiles().catch((error) => log.warn('files_not_built', describeError(error)))
  const notices = [config.mailNotice, config.uploadNotice, services.hitStoreWarning]
    .filter(Boolean)
    .map((notice) => `${notice}\n`)
  const state = await readFirstAccountState(services.db.read)
  // After the start message and the answers to visitors who waited for it.
  setTimeout(() => void app.loadRoutes().catch((error) => endAtOnce(toSentence(error))), LOAD_ROUTES_AFTER_MS)
  return {
    node: services.spool.node,
    readyText: notices.join('') + toReadyText(config, state),
    readMetrics: services.readOwnMetrics,
    async stop() {
      services.startDraining()
      const late = setTimeout(() => void listener.stop(true), DRAIN_MS)
      await listener.stop(false)
      clearTimeout(late)
      await services.close()
      log.info('stopped')
    },
  }
}

async function listenOrRefuse(
  config: Config,
  app: App,
  refuse: (sentence: string) => Promise<never>,
): Promise<Listener> {
  try {
    return listen({ ...config, reusePort: config.workers > 1 }, app)
  } catch (error) {
    if (!(error instanceof ListenError)) throw error
    return refuse(error.message)
  }
}

/** Nothing more is written: another process has the id of this node. */
function endAtOnce(sentence: string) {
  process.stderr.write(`Towpath stops:\n  ${sentence}\n`)
  process.exit(1)
}

function toSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message + (error.cause instanceof Error ? ` (${error.cause.message})` : '')
}

function toReadyText(config: Config, state: FirstAccountState): string {
  const dashboard = `${config.origin}/app`
  switch (state) {
    case 'empty':
      return `Towpath is ready. Make the first account, which owns this installation, at this address:\n${toSetupUrl(config)}\n`
    case 'operatorOnly':
      return `Towpath is ready. Create the first account: npx towpath user create you@example.com\n${dashboard}\n`
    case 'made':
      return `Towpath is ready. Open the dashboard at this address:\n${dashboard}\n`
  }
}

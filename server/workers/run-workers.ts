// Prepares a machine for several server processes (WORKERS), and starts their supervisor.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { describeError, log } from '../lib/log.ts'
import { lockDataDir } from '../storage/lock.ts'
import { ListenError, listenOnHost } from '../web/listen.ts'
import { type Supervisor, startSupervisor } from './supervisor.ts'

/** The argument that tells main.ts that it is a worker, and its number. */
const WORKER_ARGUMENT = '--worker='

/** @returns the number of this worker, from 1; undefined in the supervisor */
export function readWorkerNumber(argv: string[]): number | undefined {
  const argument = argv.find((each) => each.startsWith(WORKER_ARGUMENT))
  return argument === undefined ? undefined : Number(argument.slice(WORKER_ARGUMENT.length))
}

/** Each worker has its own directory with spool, batches and node id. All share the secret. */
export const toWorkerConfig = (config: Config, worker: number): Config => ({
  ...config,
  dataDir: join(config.dataDir, `worker-${worker}`),
})

/**
 * @param main the file that starts a worker
 * @param onReady is called once, when all workers listen
 * @throws with a sentence for the operator where another server has the directory or the ports
 */
export function runWorkers(config: Config, main: string, onReady: (text: string) => void): Supervisor {
  // Held until this process ends.
  lockDataDir(config.dataDir)
  checkPorts(config)
  reportLeftDirectories(config)
  return startSupervisor({
    count: config.workers,
    toCommand: (worker) => [process.execPath, main, `${WORKER_ARGUMENT}${worker}`],
    onReady,
  })
}

/** Workers share their ports, so another process of the same user could share them, too. */
function checkPorts({ host, port, innerPort }: Config): void {
  const wanted = { PORT: port, INNER_PORT: innerPort }
  for (const [setting, number] of Object.entries(wanted)) {
    if (number === undefined) continue
    try {
      const open = (hostname: string) => Bun.listen({ hostname, port: number, socket: { data() {} } })
      listenOnHost(host, open).stop(true)
    } catch (error) {
      throw new ListenError(`HOST, ${setting}`, host, number, error)
    }
  }
}

/** Analytics lack the hits that such a directory has not shipped. */
function reportLeftDirectories({ dataDir, workers }: Config): void {
  try {
    for (const name of readdirSync(dataDir)) {
      const number = Number(/^worker-(\d+)$/.exec(name)?.[1])
      if (number > workers || name === 'spool')
        log.warn('directory_without_worker', {
          directory: number > workers ? join(dataDir, name) : dataDir,
          advice:
            'Clicks that were not loaded when its server stopped wait there: npx towpath adopt <directory>',
        })
    }
  } catch (error) {
    log.warn('directory_not_read', describeError(error))
  }
}

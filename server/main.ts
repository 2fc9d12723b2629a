// Starts Towpath: one server, or a supervisor with several (WORKERS). The supervisor starts this file again for each of
// them.

import { type Config, readConfig } from './config/config.ts'
import { ConfigError } from './config/setting.ts'
import { log, setLogFormat, setLogLevel } from './lib/log.ts'
import { readWorkerNumber, runWorkers, toWorkerConfig } from './workers/run-workers.ts'
import { connectToSupervisor, type WorkerChannel } from './workers/worker-channel.ts'

function writeRefusal(sentences: string[]): void {
  process.stderr.write(`Towpath cannot start:\n${sentences.map((sentence) => `  ${sentence}\n`).join('')}`)
}

async function refuse(...sentences: string[]): Promise<never> {
  writeRefusal(sentences)
  process.exit(1)
}

async function configure(channel?: WorkerChannel): Promise<Config> {
  try {
    return readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return channel ? channel.refuse(error.problems.join(' ')) : refuse(...error.problems)
  }
}

/** The reader of the log may end before the server, which goes on without it. */
function outliveLogReader(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** The first signal stops in order, the second one at once. */
function onSignals(stop: () => Promise<number>, kill: () => void = () => {}): void {
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, async () => {
      if (stopping) {
        kill()
        process.exit(1)
      }
      stopping = true
      log.info('stopping', { signal })
      process.exit(await stop())
    })
}

// The code of a server is imported where a server runs: in a supervisor it would take 40 MB.
const importServer = () => import('./start/run-server.ts')

async function startAlone(config: Config): Promise<void> {
  const { runServer } = await importServer()
  const server = await runServer(config, refuse)
  // Before the start message: its reader may send a signal at once.
  onSignals(async () => {
    await server.stop()
    return 0
  })
  process.stdout.write(server.readyText)
}

async function startWorker(config: Config, channel: WorkerChannel): Promise<void> {
  const { runServer } = await importServer()
  const server = await runServer(config, channel.refuse, channel)
  channel.answerMetrics(server.readMetrics)
  channel.onStop(async () => {
    await server.stop()
    process.exit(0)
  })
  channel.reportReady({ node: server.node, text: server.readyText })
}

async function startWorkers(config: Config): Promise<void> {
  const supervisor = runWorkers(config, import.meta.path, (text) => process.stdout.write(text))
  const whenEnded = supervisor.ended.then(({ exitCode, sentence }) => {
    if (sentence !== undefined) writeRefusal([sentence])
    return exitCode
  })
  onSignals(() => {
    supervisor.stop()
    return whenEnded
  }, supervisor.kill)
  process.exit(await whenEnded)
}

// The files have password hashes, salts and hits: only this user may read them.
process.umask(0o077)
outliveLogReader()
const worker = readWorkerNumber(process.argv)
const channel = worker === undefined ? undefined : connectToSupervisor(worker)
const config = await configure(channel)
setLogLevel(config.logLevel)
setLogFormat(config.logFormat)
if (channel) await startWorker(toWorkerConfig(config, channel.number), channel)
else if (config.workers > 1) await startWorkers(config).catch((error: Error) => refuse(error.message))
else await startAlone(config)

// The hit worker as a process beside the server. The hit engine lives in this process alone, so no redirect waits for a
// flush (50 ms), a long question, or a fault in the engine.

import { openTracing } from '../../../http/telemetry/open-tracing.ts'
import { lowerPriority } from '../../../lib/child-process.ts'
import { setLogFormat, setLogLevel } from '../../../lib/log.ts'
import { lockForWorker } from '../../../storage/lock.ts'
import { connectToServer } from './ipc.ts'
import { runWorker } from './run-worker.ts'

// Redirects go first: a hit may wait, it is safe in the spool.
lowerPriority()
const connection = await connectToServer()
const { logLevel, logFormat, version, node, dataDir, tracing: receiver } = connection.settings
setLogLevel(logLevel)
setLogFormat(logFormat)
const tracing = await openTracing(receiver, { version, node, part: 'hit-worker' })
// Before anything is read: the worker of a server that was killed may still write batches.
await lockForWorker(dataDir)
const worker = await runWorker({
  ...connection,
  onClosed: async () => tracing?.close(),
  onFailed: () => process.exit(1),
})
process.on('uncaughtException', worker.fail)
process.on('unhandledRejection', worker.fail)

// The process of the hit worker. Only this process has the hit engine, so no redirect waits for a flush (50 ms) or a long
// question, and a fault in the engine does not crash the server.

import { openTracing } from '../../../http/telemetry/open-tracing.ts'
import { lowerPriority } from '../../../lib/child-process.ts'
import { setLogFormat, setLogLevel } from '../../../lib/log.ts'
import { lockForWorker } from '../../../storage/lock.ts'
import { connectToServer } from './ipc.ts'
import { runWorker } from './run-worker.ts'

// Redirects come first: hits can wait in the spool.
lowerPriority()
const connection = await connectToServer()
const { logLevel, logFormat, version, node, dataDir, tracing: receiver } = connection.settings
setLogLevel(logLevel)
setLogFormat(logFormat)
const tracing = await openTracing(receiver, { version, node, part: 'hit-worker' })
// Before anything is read, because the worker of a killed server may still write batches.
await lockForWorker(dataDir)
const worker = await runWorker({
  ...connection,
  onClosed: async () => tracing?.close(),
  onFailed: () => process.exit(1),
})
process.on('uncaughtException', worker.fail)
process.on('unhandledRejection', worker.fail)

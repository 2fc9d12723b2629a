// The reader, a child process of the server for one import: it opens and parses files from strangers, and writes no rows. A file
// that uses up the memory, or a fault in a parser, crashes only this process.

import { connectToParent, lowerPriority } from '../../../lib/child-process.ts'
import type { MessageFromReader, MessageToReader } from './protocol.ts'
import { runReader } from './run-reader.ts'

const ALIVE_EVERY_MS = 1_000

// Redirects come first.
lowerPriority()

const { receive } = runReader((message) => send(message))
const send = connectToParent<MessageFromReader, MessageToReader>(receive)

// The server kills this process if a file blocks the event loop for too long.
setInterval(() => send({ type: 'alive' }), ALIVE_EVERY_MS)

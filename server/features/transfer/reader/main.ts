// The reader, a child process of the server for one import: it opens and parses what strangers have uploaded. No row is
// written here. A file that takes all of its memory, or a fault in a parser, ends this process and not the redirects.

import { connectToParent, lowerPriority } from '../../../lib/child-process.ts'
import type { MessageFromReader, MessageToReader } from './protocol.ts'
import { runReader } from './run-reader.ts'

const ALIVE_EVERY_MS = 1_000

// Redirects go first.
lowerPriority()

const { receive } = runReader((message) => send(message))
const send = connectToParent<MessageFromReader, MessageToReader>(receive)

// A file that holds the event loop for longer than the server waits ends this process.
setInterval(() => send({ type: 'alive' }), ALIVE_EVERY_MS)

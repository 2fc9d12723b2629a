// The reader, a child process of the server for one import: it opens and parses what strangers have uploaded. No row is
// written here. A file that takes all of its memory, or a fault in a parser, ends this process and not the redirects.

import { connectToParent, lowerPriority } from '../../../lib/child-process.ts'
import { describeError, log, setLogFormat, setLogLevel } from '../../../lib/log.ts'
import { FileProblem } from '../files/source-file.ts'
import type {
  MessageFromReader,
  MessageToReader,
  ReaderTaskName,
  ReaderTasks,
  TaskFunction,
} from './protocol.ts'
import { checkArchiveFile, readArchive } from './tasks/archive-tasks.ts'
import { checkFiles } from './tasks/check-files.ts'
import { inspectFile } from './tasks/inspect-file.ts'
import { readClicks } from './tasks/read-clicks.ts'
import { sendLinks } from './tasks/send-links.ts'
import { checkSubmissions, sendSubmissions } from './tasks/submission-tasks.ts'

const TASKS: { [Name in ReaderTaskName]: TaskFunction<Name> } = {
  inspect: inspectFile,
  check: checkFiles,
  links: sendLinks,
  checkArchive: checkArchiveFile,
  archive: readArchive,
  checkSubmissions,
  submissions: sendSubmissions,
  clicks: readClicks,
}

const ALIVE_EVERY_MS = 1_000

// Redirects go first.
lowerPriority()

const send = connectToParent<MessageFromReader, MessageToReader>(receive)
let takeReply: (value: unknown) => void = () => {}

function sendBatch(batch: unknown): Promise<unknown> {
  const reply = Promise.withResolvers<unknown>()
  takeReply = reply.resolve
  send({ type: 'batch', batch })
  return reply.promise
}

async function runTask<Name extends ReaderTaskName>(name: Name, input: ReaderTasks[Name]['input']) {
  try {
    const run: TaskFunction<Name> = TASKS[name]
    send({ type: 'result', result: await run(input, sendBatch as never) })
  } catch (error) {
    if (error instanceof FileProblem) return send({ type: 'problem', message: error.message })
    log.error('import_not_read', describeError(error))
    send({ type: 'error', message: error instanceof Error ? error.message : String(error) })
  }
}

// A file that holds the event loop for longer than the server waits ends this process.
setInterval(() => send({ type: 'alive' }), ALIVE_EVERY_MS)

function receive(message: MessageToReader): void {
  if (message.type === 'reply') takeReply(message.value)
  else if (message.type === 'task') void runTask(message.name, message.input as never)
  else {
    setLogLevel(message.settings.logLevel)
    setLogFormat(message.settings.logFormat)
  }
}

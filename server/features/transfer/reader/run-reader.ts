// Runs the tasks of the reader, one at a time, and answers the server's messages.

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

export interface RunningReader {
  receive(message: MessageToReader): void
  /** Ends the task at its next batch, if the reader is not a separate process. */
  end(): void
}

export function runReader(send: (message: MessageFromReader) => void): RunningReader {
  let reply = Promise.withResolvers<unknown>()
  let hasEnded = false

  async function sendBatch(batch: unknown): Promise<unknown> {
    if (hasEnded) throw new Error('The reader has ended')
    reply = Promise.withResolvers()
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

  return {
    receive(message) {
      if (message.type === 'reply') reply.resolve(message.value)
      else if (message.type === 'task') void runTask(message.name, message.input as never)
      else {
        setLogLevel(message.settings.logLevel)
        setLogFormat(message.settings.logFormat)
      }
    },
    end() {
      hasEnded = true
      reply.reject(new Error('The reader has ended'))
      // Between two batches nobody awaits it.
      reply.promise.catch(() => {})
    },
  }
}

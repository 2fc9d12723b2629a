// The thread (`new Worker`) that moves SQLite's log into the database file, so that writes and syncs of a checkpoint block
// no request. checkpointer.ts sends its requests.

import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import type { CheckpointAnswer, CheckpointRequest } from './checkpointer.ts'

declare const self: Worker

let database: Database | undefined

function open(path: string): Database {
  // The file exists. A thread that starts late must not create a new one.
  const opened = new Database(path, { create: false, readwrite: true, strict: true })
  opened.run('PRAGMA busy_timeout=0')
  return opened
}

function readNumber(from: Database, pragma: string): number {
  return Object.values(from.query(`PRAGMA ${pragma}`).get() as Record<string, number>)[0] ?? 0
}

function checkpoint({ path, mode }: CheckpointRequest): CheckpointAnswer {
  database ??= open(path)
  const { busy, log, checkpointed } = database.query(`PRAGMA wal_checkpoint(${mode})`).get() as {
    busy: number
    log: number
    checkpointed: number
  }
  const pageBytes = readNumber(database, 'page_size')
  return {
    isComplete: busy === 0 && log === checkpointed,
    logPages: log,
    sizes: {
      bytes: readNumber(database, 'page_count') * pageBytes,
      freeBytes: readNumber(database, 'freelist_count') * pageBytes,
      walBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    },
  }
}

self.onmessage = ({ data: request }: MessageEvent<CheckpointRequest | 'close'>) => {
  if (request === 'close') {
    database?.close()
    process.exit()
  }
  try {
    self.postMessage(checkpoint(request))
  } catch (error) {
    self.postMessage({ error: error instanceof Error ? error.message : String(error) })
  }
}

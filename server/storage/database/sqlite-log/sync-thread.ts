// Syncs SQLite's log to the disk, as a thread of its own (`new Worker`): a sync takes milliseconds, and on a busy disk
// hundreds of them. log-sync.ts asks for it.

import { fdatasyncSync, openSync } from 'node:fs'

declare const self: Worker

let file: number | undefined

self.onmessage = ({ data: path }: MessageEvent<string>) => {
  if (path === 'close') process.exit()
  try {
    // SQLite keeps the log's file as long as a connection is open.
    file ??= openSync(path, 'r+')
    fdatasyncSync(file)
    self.postMessage({})
  } catch (error) {
    self.postMessage({ error: error instanceof Error ? error.message : String(error) })
  }
}

// The file store in a directory of this machine: a folder for each UTC day, and in it a file for each key. A draft is
// `<key>.draft` in the same folder, so its last step is a rename.

import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { toUtcDay } from '../../lib/utc-day.ts'
import { syncToDisk } from '../write-durably.ts'
import { FILE_KEY, newFileKey } from './file-key.ts'
import type { FileDraft, FileStore, StoredFile } from './file-store.ts'
import { writeAll } from './write-all.ts'

const DRAFT = '.draft'
const DAY = /^\d{4}-\d{2}-\d{2}$/
const NAME = /^[0-9a-f]{32}(?:\.draft)?$/
const KEY_OR_DRAFT = /^\d{4}-\d{2}-\d{2}\/[0-9a-f]{32}(?:\.draft)?$/
const READ_BYTES = 64 * 1024
/** A file is synced while it grows, so that other files do not wait for one long sync. */
const SYNC_EVERY_BYTES = 8 * 1024 * 1024

export interface DirectoryStoreNeeds {
  /** Created if it is missing. */
  dir: string
  /** See `toFileOwner`. */
  owner: string
  now: () => number
}

export async function openDirectoryStore({ dir, owner, now }: DirectoryStoreNeeds): Promise<FileStore> {
  await makeFolder(dir)
  const folders = createDayFolders(dir)
  return {
    isShared: false,
    create: () => createDraft(folders, dir, newFileKey(now(), owner)),
    ...createDirectoryReader(dir),
    async delete(key) {
      if (!KEY_OR_DRAFT.test(key)) return
      await rm(join(dir, key), { force: true })
      const [day = ''] = key.split('/')
      // A folder of today can get a file at any time.
      if (day < toUtcDay(now())) await rmdir(join(dir, day)).catch(() => {})
    },
    async close() {},
  }
}

/** Reads a directory that may not exist, and creates nothing. */
export const createDirectoryReader = (dir: string): Pick<FileStore, 'read' | 'list'> => ({
  async read(key, range) {
    if (!FILE_KEY.test(key)) return undefined
    const file = await open(join(dir, key), 'r').catch(ignoreMissing)
    return file && toStream(file, range)
  },
  list: (fromDay) => listFiles(dir, fromDay),
})

/** Creates and syncs a folder, so that it survives a power cut. Also syncs an existing folder, which may not be synced yet. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  await syncToDisk(dirname(path))
}

type DayFolders = (day: string, again?: boolean) => Promise<void>

/** Creates the folder of a day once. All drafts wait for its sync, not only the first one. */
function createDayFolders(dir: string): DayFolders {
  let made: { day: string; done: Promise<void> } | undefined
  return (day, again = false) => {
    if (made?.day !== day || again) {
      const own = { day, done: makeFolder(join(dir, day)) }
      own.done.catch(() => {
        if (made === own) made = undefined
      })
      made = own
    }
    return made.done
  }
}

async function openDraft(folders: DayFolders, path: string): Promise<FileHandle> {
  const day = basename(dirname(path))
  await folders(day)
  return open(path, 'wx', 0o600).catch(async (error) => {
    // The clock was set back to a day whose folder was deleted.
    if (error.code !== 'ENOENT') throw error
    await folders(day, true)
    return open(path, 'wx', 0o600)
  })
}

async function createDraft(folders: DayFolders, dir: string, key: string): Promise<FileDraft> {
  const path = join(dir, key)
  const draftPath = path + DRAFT
  const file = await openDraft(folders, draftPath)
  let isOpen = true
  let unsynced = 0
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    await file.close()
  }
  return {
    key,
    async write(chunk) {
      await writeAll(file, chunk)
      unsynced += chunk.byteLength
      if (unsynced < SYNC_EVERY_BYTES) return
      unsynced = 0
      await file.datasync()
    },
    async commit() {
      await file.sync()
      await close()
      await rename(draftPath, path)
      await syncToDisk(dirname(path))
    },
    async discard() {
      await close().catch(() => {})
      for (const left of [draftPath, path]) await rm(left, { force: true }).catch(() => {})
    },
  }
}

/** Reads as fast as the stream is read, and closes the file at its end. */
function toStream(file: FileHandle, range?: { start: number; end: number }): ReadableStream<Uint8Array> {
  let at = range?.start ?? 0
  const end = range?.end ?? Number.POSITIVE_INFINITY
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const wanted = Math.min(READ_BYTES, end - at)
          const { bytesRead, buffer } =
            wanted > 0
              ? await file.read(new Uint8Array(wanted), 0, wanted, at)
              : { bytesRead: 0, buffer: new Uint8Array() }
          at += bytesRead
          if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead))
          await file.close()
          controller.close()
        } catch (error) {
          await file.close().catch(() => {})
          controller.error(error)
        }
      },
      cancel: () => file.close(),
    },
    { highWaterMark: 0 },
  )
}

async function* listFiles(dir: string, fromDay = ''): AsyncIterable<StoredFile> {
  const names = (await readdir(dir).catch(ignoreMissing)) ?? []
  const days = names.filter((name) => DAY.test(name) && name >= fromDay)
  for (const day of days.sort()) {
    for (const name of (await readdir(join(dir, day)).catch(ignoreMissing)) ?? []) {
      if (!NAME.test(name)) continue
      const found = await stat(join(dir, day, name)).catch(ignoreMissing)
      if (found) yield { key: `${day}/${name}`, bytes: found.size, at: Math.floor(found.mtimeMs) }
    }
  }
}

/** For files that can be deleted at any time. */
function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

// The file store in an S3-compatible bucket. A draft is written to the local disk, because S3 needs either the length of an
// object in advance, or parts of 5 MiB and more, which 20 uploads would hold in memory. Then one request sends it to the
// bucket, so an interrupted upload leaves nothing there.

import { createHash } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createBucketClient, type UploadBucket } from './bucket-client.ts'
import { FILE_KEY, newFileKey } from './file-key.ts'
import type { FileDraft, FileStore } from './file-store.ts'
import { writeAll } from './write-all.ts'

export interface S3StoreNeeds {
  bucket: UploadBucket
  /** The directory of drafts. It belongs to this process, and is emptied when the store opens. */
  draftsDir: string
  /** See `toFileOwner`. */
  owner: string
  now: () => number
  /** A request to the bucket is aborted after this time without progress. */
  timeoutMs?: number
  /** The number of files in one answer of the bucket's list. */
  filesOfPage?: number
}

export async function openS3Store({
  bucket,
  draftsDir,
  owner,
  now,
  ...limits
}: S3StoreNeeds): Promise<FileStore> {
  await rm(draftsDir, { recursive: true, force: true })
  await mkdir(draftsDir, { recursive: true, mode: 0o700 })
  const client = createBucketClient(bucket, limits)
  return {
    isShared: true,
    create: () => createDraft(client, draftsDir, newFileKey(now(), owner)),
    ...toReader(client),
    async delete(key) {
      if (FILE_KEY.test(key)) await client.delete(key)
    },
    async close() {
      client.close()
    },
  }
}

/** Only reads a bucket, so it needs no directory of drafts. */
export const createBucketReader = (bucket: UploadBucket) => toReader(createBucketClient(bucket))

const toReader = (client: BucketClient): Pick<FileStore, 'read' | 'list'> => ({
  read: async (key, range) => (FILE_KEY.test(key) ? client.read(key, range) : undefined),
  async *list(fromDay) {
    for await (const file of client.list(fromDay)) if (FILE_KEY.test(file.key)) yield file
  },
})

type BucketClient = ReturnType<typeof createBucketClient>

async function createDraft(client: BucketClient, dir: string, key: string): Promise<FileDraft> {
  const path = join(dir, key.slice(key.indexOf('/') + 1))
  const file = await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  let bytes = 0
  let isOpen = true
  let mayBeStored = false
  const removeDraft = async () => {
    if (isOpen) await file.close()
    isOpen = false
    await rm(path, { force: true })
  }
  return {
    key,
    async write(chunk) {
      await writeAll(file, chunk)
      hash.update(chunk)
      bytes += chunk.byteLength
    },
    async commit() {
      mayBeStored = true
      await client.put(key, { path, bytes, sha256: hash.digest('hex') })
      await removeDraft()
    },
    async discard() {
      await removeDraft().catch(() => {})
      if (mayBeStored) await client.delete(key).catch(() => {})
    },
  }
}

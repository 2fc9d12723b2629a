// Opens the file store: in the bucket that the operator names, or else in a directory.

import { createBucketClient, type UploadBucket } from './bucket-client.ts'
import { openDirectoryStore } from './directory-store.ts'
import { FILE_KEY } from './file-key.ts'
import type { FileStore } from './file-store.ts'
import { openS3Store } from './s3-store.ts'

export interface FileStorePlace {
  bucket: UploadBucket | undefined
  /** The files, where there is no bucket. All workers of a machine share it. */
  uploadsDir: string
  /** Drafts of this process, where there is a bucket. */
  draftsDir: string
}

export const openFileStore = ({
  bucket,
  uploadsDir,
  draftsDir,
  now,
}: FileStorePlace & { now: () => number }): Promise<FileStore> =>
  bucket ? openS3Store({ bucket, draftsDir, now }) : openDirectoryStore({ dir: uploadsDir, now })

/** Reads files without a place for drafts: for a command beside a server. */
export async function openFileReader({
  bucket,
  uploadsDir,
}: Omit<FileStorePlace, 'draftsDir'>): Promise<Pick<FileStore, 'read'>> {
  if (!bucket) return openDirectoryStore({ dir: uploadsDir, now: Date.now })
  const { read } = createBucketClient(bucket)
  return { read: async (key, range) => (FILE_KEY.test(key) ? read(key, range) : undefined) }
}

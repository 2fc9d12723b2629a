// Opens the file store: in the bucket that the operator names, or else in a directory.

import type { UploadBucket } from './bucket-client.ts'
import { createDirectoryReader, openDirectoryStore } from './directory-store.ts'
import type { FileStore } from './file-store.ts'
import { createBucketReader, openS3Store } from './s3-store.ts'

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
  owner,
  now,
}: FileStorePlace & { owner: string; now: () => number }): Promise<FileStore> =>
  bucket
    ? openS3Store({ bucket, draftsDir, owner, now })
    : openDirectoryStore({ dir: uploadsDir, owner, now })

/** Reads files without a place for drafts, and makes nothing: for commands beside a server. */
export function createFileReader({
  bucket,
  uploadsDir,
}: Omit<FileStorePlace, 'draftsDir'>): Pick<FileStore, 'read' | 'list'> {
  return bucket ? createBucketReader(bucket) : createDirectoryReader(uploadsDir)
}

// Opens the file store: in the operator's bucket if there is one, else in a directory.

import type { UploadBucket } from './bucket-client.ts'
import { createDirectoryReader, openDirectoryStore } from './directory-store.ts'
import type { FileStore } from './file-store.ts'
import { createBucketReader, openS3Store } from './s3-store.ts'

export interface FileStorePlace {
  bucket: UploadBucket | undefined
  /** The directory of the files if there is no bucket. All workers of a machine share it. */
  uploadsDir: string
  /** The directory for drafts of this process if there is a bucket. */
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

/** Only reads files, and creates nothing: for commands beside a server. */
export function createFileReader({
  bucket,
  uploadsDir,
}: Omit<FileStorePlace, 'draftsDir'>): Pick<FileStore, 'read' | 'list'> {
  return bucket ? createBucketReader(bucket) : createDirectoryReader(uploadsDir)
}

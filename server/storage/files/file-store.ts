// The interface of the file store for uploads: a directory of this machine, or a bucket (S3).

/** A file while it is written. `commit` or `discard` ends it. */
export interface FileDraft {
  /** The key of the file after its commit: `2026-11-23/…`, with the UTC day of its draft. */
  readonly key: string
  /** Resolves when the next chunk can be written. @throws if the disk is full, or the bucket refuses */
  write(chunk: Uint8Array): Promise<void>
  /** Resolves when the file survives a power cut. */
  commit(): Promise<void>
  /** Deletes the draft or, after a commit whose row is not stored, the file. Never throws. */
  discard(): Promise<void>
}

export interface StoredFile {
  key: string
  bytes: number
  /** When it was stored, in milliseconds. */
  at: number
}

export interface FileStore {
  /** True if every node of a cluster reads the same files. */
  readonly isShared: boolean
  create(): Promise<FileDraft>
  /** @param range bytes, the end exclusive. @returns undefined if the file does not exist */
  read(key: string, range?: { start: number; end: number }): Promise<ReadableStream<Uint8Array> | undefined>
  /** A missing file is not an error. */
  delete(key: string): Promise<void>
  /** All files whose drafts began on this UTC day (`2026-11-23`) or later, oldest day first, including drafts of a crash. */
  list(fromDay?: string): AsyncIterable<StoredFile>
  close(): Promise<void>
}

// The contract of the file store, which keeps what senders upload: a directory of this machine, or a bucket (S3).

/** A file that is being stored. `commit` or `discard` ends it. */
export interface FileDraft {
  /** Names the file from its commit on: `2026-11-23/…`, with the UTC day of its draft. */
  readonly key: string
  /** Resolves when the next chunk may come. @throws where the disk is full, or the bucket refuses */
  write(chunk: Uint8Array): Promise<void>
  /** Resolves when the file survives a power cut. */
  commit(): Promise<void>
  /** Leaves nothing behind, also after a commit whose row is not stored. Never throws. */
  discard(): Promise<void>
}

export interface StoredFile {
  key: string
  bytes: number
  /** When it was stored, in milliseconds. */
  at: number
}

export interface FileStore {
  /** Whether every node of a cluster reads the same files. */
  readonly isShared: boolean
  create(): Promise<FileDraft>
  /** @param range bytes, the end exclusive. @returns undefined where the file is gone */
  read(key: string, range?: { start: number; end: number }): Promise<ReadableStream<Uint8Array> | undefined>
  /** A file that is gone already is no error. */
  delete(key: string): Promise<void>
  /** All files whose drafts began on this UTC day (`2026-11-23`) or later, oldest day first, drafts of a crash too. */
  list(fromDay?: string): AsyncIterable<StoredFile>
  close(): Promise<void>
}

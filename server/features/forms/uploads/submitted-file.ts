// The type of a file in a request of the form endpoint.

import type { FileDraft } from '../../../storage/files/file-store.ts'

export interface SubmittedFile {
  /** The name of its input. */
  field: string
  /** Harmless: no path, no control characters, at most 255 bytes. */
  name: string
  /** The media type that its bytes show. */
  type: string
  bytes: number
  sha256: string
  draft: FileDraft
}

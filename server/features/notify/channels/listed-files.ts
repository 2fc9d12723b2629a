// The files that a message names: a few, because messages are short. Towpath's inbox has all of them.

import { formatBytes } from '../../../lib/formats/format-bytes.ts'
import type { Notice } from './contract.ts'
import { toOneLine, truncateText } from './safe-text.ts'

export const DOWNLOAD_LABEL = 'Download'
const NAME_MAX = 100
const FILES_MAX = 5

export interface ListedFile {
  /** Untrusted text on one line, with the size: `plan.pdf (1.5 MB)`. */
  name: string
  /** Ours. */
  url: string
}

/** @returns at most FILES_MAX files, and how many more there are */
export function listNoticeFiles({ files = [] }: Notice): { listed: ListedFile[]; more: string } {
  const listed = files.slice(0, FILES_MAX).map(({ name, bytes, url }) => ({
    name: `${truncateText(toOneLine(name), NAME_MAX) || 'file'} (${formatBytes(bytes)})`,
    url,
  }))
  const rest = files.length - listed.length
  return { listed, more: rest === 0 ? '' : `… ${rest} more ${rest === 1 ? 'file' : 'files'}` }
}

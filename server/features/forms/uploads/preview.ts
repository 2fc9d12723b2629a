// Preview of an uploaded file in the dashboard: the first part of a text. A text is only ever data in JSON, so nothing
// in it can run.

import { z } from '@hono/zod-openapi'
import { recognizeUnicode } from '../../../lib/formats/charset.ts'
import type { FileStore } from '../../../storage/files/file-store.ts'
import { openFile, type StoredFileRow } from './find-file.ts'

const TEXT_BYTES = 64 * 1024

export const FilePreviewShape = z
  .strictObject({
    kind: z.enum(['text', 'none']).openapi({ description: 'none: there is no preview of such a file' }),
    text: z.string().nullable().openapi({ description: 'The first 64 KiB of a text' }),
    truncated: z.boolean().openapi({ description: 'The file has more than `text`' }),
  })
  .openapi('FilePreview')
export type FilePreview = z.infer<typeof FilePreviewShape>

/** @throws Failure `not_found`, `unavailable` */
export async function previewFile(store: Pick<FileStore, 'read'>, file: StoredFileRow): Promise<FilePreview> {
  if (!file.type.startsWith('text/') && file.type !== 'application/json')
    return { kind: 'none', text: null, truncated: false }
  const truncated = file.bytes > TEXT_BYTES
  const range = truncated ? { start: 0, end: TEXT_BYTES } : undefined
  const bytes = await new Response(await openFile(store, file, range)).bytes()
  const text = decode(bytes, truncated)
  return { kind: 'text', text, truncated }
}

/** Decodes as editors do: UTF-16, UTF-8, else windows-1252. Drops a character that the cut has split. */
function decode(bytes: Uint8Array, cut: boolean): string {
  const encoding = recognizeUnicode(bytes) ?? 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: cut })
  } catch {
    return new TextDecoder('windows-1252' as 'utf-8').decode(bytes)
  }
}

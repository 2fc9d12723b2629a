// The shapes of uploads: the files that a form accepts, and the stored data of a file (docs/contract.md §13).

import { z } from '@hono/zod-openapi'
import { text, wholeNumber } from '../../../lib/api-fields.ts'

const MIB = 1024 * 1024
export const UPLOAD_FILES_MAX = 20
export const UPLOAD_BYTES_MAX = 100 * MIB
const ACCEPT_MAX = 50
const DEFAULT_FILES = 5
const DEFAULT_BYTES = 10 * MIB

/** `image/*`, `application/pdf` or `.pdf`, as in the `accept` of an HTML input. */
const acceptedType = text(1, 100)
  .trim()
  .toLowerCase()
  .refine(
    (value) => /^(?:\.[a-z0-9][a-z0-9._-]*|[a-z0-9.+-]+\/(?:\*|[a-z0-9.+-]+))$/.test(value),
    'must be a type such as image/*, application/pdf or .pdf',
  )

export const UploadSettingsInput = z
  .strictObject({
    maxFiles: wholeNumber(1, UPLOAD_FILES_MAX).nullable().optional(),
    maxBytes: wholeNumber(1, UPLOAD_BYTES_MAX)
      .nullable()
      .optional()
      .openapi({ description: 'Of one file; 10 MiB when absent' }),
    accept: z
      .array(acceptedType, { error: 'must be a list of file types' })
      .max(ACCEPT_MAX, `must be at most ${ACCEPT_MAX} types`)
      .nullable()
      .optional()
      .openapi({ description: 'Any type when empty', example: ['image/*', '.pdf'] }),
  })
  .transform(({ maxFiles, maxBytes, accept }) => ({
    maxFiles: maxFiles ?? DEFAULT_FILES,
    maxBytes: maxBytes ?? DEFAULT_BYTES,
    accept: [...new Set(accept ?? [])],
  }))
  .openapi('UploadSettingsInput')

export const UploadSettingsShape = z
  .strictObject({ maxFiles: z.int(), maxBytes: z.int(), accept: z.array(z.string()) })
  .openapi('UploadSettings')
export type UploadSettings = z.infer<typeof UploadSettingsShape>

export const FileShape = z
  .strictObject({
    id: z.int(),
    field: z.string().openapi({ description: 'The name of its file input' }),
    name: z.string().openapi({ description: "The sender's name of the file, made harmless" }),
    type: z.string().openapi({ description: 'The media type that its bytes show' }),
    bytes: z.int(),
    sha256: z.string(),
  })
  .openapi('SubmissionFile')
export type FileResource = z.infer<typeof FileShape>

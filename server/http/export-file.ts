// Shared by the exports of /v1: the types of their files, and their description in the API reference.

import { z } from '@hono/zod-openapi'

export const EXPORT_MEDIA_TYPES = {
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json',
  ndjson: 'application/x-ndjson; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  parquet: 'application/vnd.apache.parquet',
  zip: 'application/zip',
} as const

/** @param example how the file begins */
export const toFileSchema = (example: string) => ({
  schema: z.string().openapi({ format: 'binary', example }),
})

/** @param description describes the name of the file */
export const toFileNameHeader = (description: string) => ({
  'Content-Disposition': { description, schema: { type: 'string' as const } },
})
